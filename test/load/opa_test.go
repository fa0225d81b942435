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
// the user's assignments in it. What does not change from question to question is made
// beforehand, so that the client costs the same for both.
type opaRequests struct {
	w *world
	// subjects are the users' parts of the input, made when they are first asked about.
	subjects map[int][]byte
	service  []byte
	rest     []byte
	actions  map[string][]byte
	now      []byte
	body     []byte
}

func newOPARequests(b *testing.B, w *world) *opaRequests {
	b.Helper()
	return &opaRequests{
		w: w, subjects: map[int][]byte{}, actions: map[string][]byte{},
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
	instance := strconv.Itoa(q.instance)
	b := append(o.body[:0], `{"input":{"now":`...)
	b = append(append(b, o.now...), `,"principal":`...)
	b = append(append(b, caller...), `,"action":`...)
	b = append(append(b, o.action(q.action)...), `,"subject":`...)
	b = append(append(b, o.subject(q.user)...), `,"target":{"account":"`...)
	b = append(append(b, o.w.account...), `","project":"`...)
	b = append(append(b, q.project...), `","project_state":"active","user":"`...)
	b = append(append(b, userID(q.user)...), `","resource":"instances/i-`...)
	b = append(append(b, instance...), `","rest":"instances/i-`...)
	b = append(append(append(b, instance...), `"},`...), o.rest[1:]...) // without its brace
	b = append(b, '}')
	o.body = b
	to = append(to, "POST /v1/data/authz/decision HTTP/1.1\r\nHost: load\r\nContent-Type: application/json\r\nContent-Length: "...)
	to = strconv.AppendInt(to, int64(len(b)), 10)
	return append(append(to, "\r\n\r\n"...), b...)
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

func (o *opaRequests) subject(user int) []byte {
	if text, ok := o.subjects[user]; ok {
		return text
	}
	assignments := object{}
	for k := range o.w.assignments {
		r, project := o.w.held(user, k)
		assignments[project] = object{"": []object{{
			"role": r.id, "custom": false, "level": r.scope, "role_scope": r.scope,
			"role_status": resources.StatusActive, "status": resources.StatusActive, "expires": never, "running": true,
		}}}
	}
	o.subjects[user] = rendered(object{
		"id": userID(user), "exists": true, "status": resources.StatusActive, "member": true, "assignments": assignments, "roles": object{},
	})
	return o.subjects[user]
}

func principal(kind, id, account string, scopes object) object {
	return object{
		"kind": kind, "id": id, "uuid": "", "account": account, "scopes": scopes,
		"credential": resources.CredentialToken, "key_scopes": object{},
	}
}

func rendered(v object) []byte {
	raw, _ := json.Marshal(v) // strings, numbers and objects of them always render
	return bytes.TrimSpace(raw)
}
