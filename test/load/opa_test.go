package load_test

import (
	"bytes"
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
)

type object = map[string]any

// opaRequests writes questions for OPA's server, with the input that a gateway would build.
type opaRequests struct {
	b *testing.B
	w *world
	// subjects has the facts about users, built at their first question.
	subjects map[int]*resources.Subject
	actions  map[string]resources.Action
	service  resources.Principal
	route    *resources.Route
	now      resources.Time
	body     []byte
}

func newOPARequests(b *testing.B, w *world) *opaRequests {
	b.Helper()
	return &opaRequests{
		b: b, w: w, subjects: map[int]*resources.Subject{}, actions: map[string]resources.Action{},
		service: resources.Principal{
			Kind: resources.PrincipalService, ID: resources.ServicePrefix + "load", Credential: resources.CredentialToken, Scopes: []string{resources.ServiceScopeCheck},
		},
		route: &resources.Route{
			Name: "authorization.check", Effect: resources.EffectRead, Access: []string{"asks_self", "service:authz:check"}, Upstream: resources.UpstreamAuthorize,
		},
		now: resources.At(time.Now()),
	}
}

// request writes the question as a request to OPA's server.
func (o *opaRequests) request(out []byte, q *question) []byte {
	caller, user := o.service, userID(q.user)
	if q.byUser {
		caller = resources.Principal{Kind: resources.PrincipalUser, ID: user, AccountID: o.w.account, Credential: resources.CredentialToken}
	}
	input, err := engine.RecordedInput(&resources.Judgement{Path: resources.PathDecision, Question: resources.Question{
		Principal: caller, SubjectID: user, Action: o.action(q.action), AccountID: o.w.account, Route: o.route, Now: o.now,
		Facts:  resources.Facts{Revision: 1, Subject: o.subject(q.user), ProjectState: resources.ProjectActive},
		Target: resources.Target{AccountID: o.w.account, ProjectID: q.project, Resource: "instances/" + q.resource, Rest: "instances/" + q.resource, UserID: user},
	}})
	if err != nil {
		o.b.Fatal(err)
	}
	o.body = append(append(append(o.body[:0], `{"input":`...), input...), '}')
	return post(out, "authz/decision", o.body)
}

// post writes a request for the value of a rule.
func post(out []byte, rule string, body []byte) []byte {
	out = append(append(append(out, "POST /v1/data/"...), rule...), " HTTP/1.1\r\nHost: load\r\nContent-Type: application/json\r\nContent-Length: "...)
	out = strconv.AppendInt(out, int64(len(body)), 10)
	return append(append(out, "\r\n\r\n"...), body...)
}

func (o *opaRequests) action(id string) resources.Action {
	a, ok := o.actions[id]
	if !ok {
		var err error
		if a, err = resources.ParseAction(id); err != nil {
			o.b.Fatal(err)
		}
		o.actions[id] = a
	}
	return a
}

func (o *opaRequests) subject(user int) *resources.Subject {
	s := o.subjects[user]
	if s == nil {
		s = &resources.Subject{
			AccountID: o.w.account, AccountExists: true, AccountStatus: resources.StatusActive,
			UserID: userID(user), UserExists: true, UserStatus: resources.StatusActive, Member: true, HomeID: o.w.account,
		}
		for k := range o.w.assignments {
			r, project := o.w.held(user, k)
			s.Assignments = append(s.Assignments, resources.HeldRole{
				RoleID: r.id, RoleScope: r.scope, RoleStatus: resources.StatusActive, ProjectID: project, Status: resources.StatusActive,
			})
		}
		o.subjects[user] = s
	}
	return s
}

func rendered(v any) []byte {
	raw, _ := json.Marshal(v) // never fails for strings, numbers and objects of them
	return bytes.TrimSpace(raw)
}
