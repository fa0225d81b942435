package load_test

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// never is the end of what does not end, as the policy is given it.
const never = 253402300799999

type object = map[string]any

// opaRequests writes questions for OPA's server: the input that a gateway would build, with
// the user's assignments in it. A part that does not change from question to question is made
// beforehand, so that the client costs the same for both.
type opaRequests struct {
	w *world
	// subjects are the users' parts of the input, made when they are first asked about.
	subjects map[int]opaSubject
	service  []byte
	rest     []byte
	actions  map[string][]byte
	now      []byte
	body     []byte
}

func newOPARequests(b *testing.B, w *world) *opaRequests {
	b.Helper()
	return &opaRequests{
		w: w, subjects: map[int]opaSubject{}, actions: map[string][]byte{},
		service: rendered(principal(resources.PrincipalService, resources.ServicePrefix+"load", "", object{resources.ServiceScopeCheck: true})),
		rest: rendered(object{
			"account": object{"id": w.account, "exists": true, "status": resources.StatusActive},
			"route":   object{"name": "authorization.check", "effect": "read", "access": object{"asks_self": true, "service:authz:check": true}},
			"grant":   object{"permissions": object{}, "until": never},
		}),
		now: strconv.AppendInt(nil, time.Now().UnixMilli(), 10),
	}
}

// request is the question to OPA's server.
func (o *opaRequests) request(to []byte, q *question) []byte {
	caller := o.service
	if q.own {
		caller = rendered(principal(resources.PrincipalUser, userID(q.user), o.w.account, object{}))
	}
	b := append(o.body[:0], `{"input":{"now":`...)
	b = append(append(b, o.now...), `,"principal":`...)
	b = append(append(b, caller...), `,"action":`...)
	b = append(append(b, o.action(q.action)...), `,"subject":`...)
	subject := o.subject(q.user)
	b = append(append(b, subject.known...), `,"here":[`...)
	b = append(append(b, subject.here[q.project]...), `]},"target":{"account":"`...)
	b = append(append(b, o.w.account...), `","project":"`...)
	b = append(append(b, q.project...), `","project_state":"active","user":"`...)
	b = append(append(b, userID(q.user)...), `","resource":"instances/`...)
	b = append(append(b, q.resource...), `","rest":"instances/`...)
	b = append(append(append(b, q.resource...), `"},`...), o.rest[1:]...) // without its brace
	b = append(b, '}')
	o.body = b
	return post(to, "authz/decision", b)
}

// post writes a request for the value of a rule.
func post(to []byte, rule string, body []byte) []byte {
	to = append(append(append(to, "POST /v1/data/"...), rule...), " HTTP/1.1\r\nHost: load\r\nContent-Type: application/json\r\nContent-Length: "...)
	to = strconv.AppendInt(to, int64(len(body)), 10)
	return append(append(to, "\r\n\r\n"...), body...)
}

func (o *opaRequests) action(id string) []byte {
	if text, ok := o.actions[id]; ok {
		return text
	}
	part := strings.Split(id, ":")
	a := resources.Action{ID: id, Scope: part[0], Resource: part[1], Verb: part[2]}
	o.actions[id] = rendered(object{"id": id, "scope": a.Scope, "resource": a.Resource, "verb": a.Verb, "patterns": a.Patterns()})
	return o.actions[id]
}

// opaSubject is a user's part of the input, without its last brace, and their assignment in each
// project, which is what stands at the places of a target in it.
type opaSubject struct {
	known []byte
	here  map[string][]byte
}

func (o *opaRequests) subject(user int) opaSubject {
	if s, ok := o.subjects[user]; ok {
		return s
	}
	assignments, here := object{}, map[string][]byte{}
	for k := range o.w.assignments {
		r, project := o.w.held(user, k)
		assignment := object{
			"role": r.id, "custom": false, "level": r.scope, "role_scope": r.scope,
			"role_status": resources.StatusActive, "status": resources.StatusActive, "expires": never, "running": true,
		}
		assignments[project] = object{"": []object{assignment}}
		here[project] = rendered(assignment)
	}
	known := rendered(object{
		"id": userID(user), "exists": true, "status": resources.StatusActive, "member": true, "assignments": assignments, "roles": object{},
	})
	o.subjects[user] = opaSubject{known[:len(known)-1], here}
	return o.subjects[user]
}

func principal(kind, id, account string, scopes object) object {
	return object{
		"kind": kind, "id": id, "uuid": "", "account": account, "scopes": scopes,
		"credential": resources.CredentialToken, "key_scopes": object{},
	}
}

func rendered(v any) []byte {
	raw, _ := json.Marshal(v) // strings, numbers and objects of them always render
	return bytes.TrimSpace(raw)
}
