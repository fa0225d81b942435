package engine_test

import (
	"cmp"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/resources"
)

type object = map[string]any

// never is the end of what has none, in the input's form.
const never = 253_402_300_799_999.0

// TestEveryInputKeyIsThere guarantees that even the empty question has every key:
// an absent one under `not` would allow.
func TestEveryInputKeyIsThere(t *testing.T) {
	want := object{
		"action":    object{"id": "", "scope": "", "resource": "", "verb": "", "patterns": []any{}},
		"now":       0.0,
		"principal": object{"kind": "none", "id": "", "uuid": "", "account": "", "scopes": object{}, "credential": "none", "key_scopes": object{}},
		"route":     object{"name": "", "access": object{}, "effect": ""},
		"account":   object{"named": false, "id": "", "exists": false, "status": ""},
		"subject": object{
			"named": false, "id": "", "exists": false, "status": "", "member": false, "is_caller": false,
			"assignments": object{}, "here": []any{}, "roles": object{},
		},
		"agent": object{"named": false, "exists": false, "status": "", "delegation_covers": false},
		"target": object{
			"level": "account", "same_account": true, "kind": "", "about": "",
			"account": "", "project": "", "project_state": "", "resource": "", "rest": "", "user": "",
		},
		"grant": object{"permissions": object{}, "until": never},
		"clock": object{"hour": 0.0, "weekday": "Thursday"},
	}
	if got := seen(t, resources.Question{}); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// fullQuestion has something everywhere, roles held twice and members named twice.
func fullQuestion() resources.Question {
	s := policytest.AdminSubject()
	s.Assignments = append(s.Assignments, resources.HeldRole{
		RoleID: "role-a-v1", RoleScope: "RESOURCE", RoleStatus: "ACTIVE", Custom: true,
		Permissions: []string{"project:*:read", "project:a:b", "project:*:read"},
		ProjectID:   "proj-demo-v1", ResourceID: "instances/i-1", Status: "INACTIVE", ExpiresAt: 9_007_199_254_740_993,
	})
	s.Assignments = append(s.Assignments, s.Assignments[1])
	q := policytest.Question(s, "project:a:b")
	q.Principal.Credential, q.Principal.KeyScopes, q.Principal.Scopes = "key", []string{"read", "read"}, []string{"platform:admin"}
	q.Route = &resources.Route{Name: "role_assignment.list_of_user", Access: []string{"self", "service:authz:check"}, Effect: "read"}
	q.Target.UserID = "user-eve-v1"
	return q
}

// TestTheInputIsTheQuestion guarantees that the input has every part of the question, in the form of the schema.
func TestTheInputIsTheQuestion(t *testing.T) {
	got := seen(t, fullQuestion())
	held := object{
		"role": "role-a-v1", "custom": true, "level": "RESOURCE", "role_scope": "RESOURCE", "role_status": "ACTIVE", "status": "INACTIVE",
		"expires": 9_007_199_254_740_993.0, "running": true,
	}
	admin := object{
		"role": "account_admin", "custom": false, "level": "ACCOUNT", "role_scope": "ACCOUNT",
		"role_status": "ACTIVE", "status": "ACTIVE", "expires": never, "running": true,
	}
	heldHere := object{
		"role": "role-a-v1", "custom": true, "permissions": object{"project:*:read": true, "project:a:b": true}, "level": "RESOURCE",
		"role_scope": "RESOURCE", "role_status": "ACTIVE", "status": "INACTIVE", "running": true, "outlasts_grant": false,
	}
	adminHere := object{
		"role": "account_admin", "custom": false, "permissions": object{}, "level": "ACCOUNT", "role_scope": "ACCOUNT",
		"role_status": "ACTIVE", "status": "ACTIVE", "running": true, "outlasts_grant": false,
	}
	want := object{
		"action": object{"id": "project:a:b", "scope": "project", "resource": "a", "verb": "b", "patterns": []any{
			"*:*:*", "*:*:b", "*:a:*", "*:a:b", "project:*:*", "project:*:b", "project:a:*", "project:a:b",
		}},
		"now": 1_767_225_600_000.0,
		"principal": object{
			"kind": "user", "id": "user-bob-v1", "uuid": "b0b", "account": "acct-demo-v1",
			"scopes": object{}, "credential": "key", "key_scopes": object{"read": true},
		},
		"route":   object{"name": "role_assignment.list_of_user", "access": object{"self": true, "service:authz:check": true}, "effect": "read"},
		"account": object{"named": true, "id": "acct-demo-v1", "exists": true, "status": "ACTIVE"},
		"subject": object{
			"named": true, "id": "user-bob-v1", "exists": true, "status": "ACTIVE", "member": true, "is_caller": true,
			"assignments": object{
				"":             object{"": []any{admin}},
				"proj-demo-v1": object{"instances/i-1": []any{held, held}},
			},
			"here": []any{heldHere, heldHere, adminHere}, // by what they say
			"roles": object{"role-a-v1": object{
				"scope": "RESOURCE", "permissions": object{"project:*:read": true, "project:a:b": true},
			}},
		},
		"agent": object{"named": false, "exists": false, "status": "", "delegation_covers": false},
		"target": object{
			"account": "acct-demo-v1", "project": "proj-demo-v1", "project_state": "active",
			"resource": "instances/i-1", "rest": "instances/i-1/disks", "user": "user-eve-v1",
			"level": "resource", "same_account": true, "kind": "instances", "about": "other",
		},
		"grant": object{"permissions": object{}, "until": never},
		"clock": object{"hour": 0.0, "weekday": "Thursday"},
	}
	for key := range want {
		if !reflect.DeepEqual(got[key], want[key]) {
			t.Errorf("%s:\ngot  %v\nwant %v", key, got[key], want[key])
		}
	}
}

// TestAnInputHasNothingOfAnEarlierOne guarantees that consecutive questions with different parts get different inputs.
// OPA looks values up by hash, so the hashes differ as well.
func TestAnInputHasNothingOfAnEarlierOne(t *testing.T) {
	const answer = `decision := {"allow": differs, "reason": json.marshal(input)} if {
	copies := {{input, {k: v | some k, v in input}}, {input.target, {k: v | some k, v in input.target}}}
	differs := {1} != {count(copy) | some copy in copies}
}`
	e := newEngine(t, policytest.Decision(t, answer), engine.Options{})
	elsewhere, other, named := policytest.Question(policytest.ActiveSubject(), "account:a:b"), policytest.Question(policytest.ActiveSubject(), "project:a:b"), resources.Question{AccountID: "acct-x-v1"}
	other.Target = resources.Target{AccountID: "acct-y-v1", ProjectID: "proj-y-v1", Resource: "disks/d-1", UserID: "user-y-v1"}
	other.Principal.UUID, other.Now = "another", 1
	one := policytest.Question(policytest.AdminSubject(), "project:a:b")
	later, moved := one, one
	later.Now++
	moved.Target.ProjectID = "proj-x-v1"
	questions := []resources.Question{fullQuestion(), {}, elsewhere, named, other, later, one, moved}
	for first := range questions {
		for _, i := range []int{first, (first + 1) % len(questions), (first + 3) % len(questions)} {
			d, err := e.Decide(t.Context(), questions[i])
			var got object
			if err != nil || json.Unmarshal([]byte(d.Reason), &got) != nil {
				t.Fatal(d, err)
			}
			if want := seen(t, questions[i]); d.Allowed || !reflect.DeepEqual(got, want) {
				t.Errorf("question %d: another hash than a copy's: %v\ngot  %v\nwant %v", i, d.Allowed, got, want)
			}
		}
	}
}

// TestACallerIsTheSubjectInAllOrBuiltByItself guarantees that the input shows a caller's own value if it differs from
// the subject's in one value only.
func TestACallerIsTheSubjectInAllOrBuiltByItself(t *testing.T) {
	s := policytest.AdminSubject()
	for name, change := range map[string]func(*resources.Principal){
		"kind":       func(p *resources.Principal) { p.Kind = resources.PrincipalNone },
		"id":         func(p *resources.Principal) { p.ID = "another" },
		"uuid":       func(p *resources.Principal) { p.UUID = "another" },
		"account":    func(p *resources.Principal) { p.AccountID = "another" },
		"credential": func(p *resources.Principal) { p.Credential = resources.CredentialKey },
	} {
		q := policytest.Question(s, "project:a:b")
		same := seen(t, q)["principal"].(object) // keeps the caller with the subject
		change(&q.Principal)
		if got := seen(t, q)["principal"].(object); got[name] == same[name] {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// TestScopesAreTheirKindsOnly guarantees that no user is given a service's scopes
// and no token a key's.
func TestScopesAreTheirKindsOnly(t *testing.T) {
	q := resources.Question{Principal: resources.Principal{
		Kind: "service", ID: "service-x", Scopes: []string{"authz:check"}, Credential: "token", KeyScopes: []string{"write"},
	}}
	p := seen(t, q)["principal"].(object)
	if !reflect.DeepEqual(p["scopes"], object{"authz:check": true}) || !reflect.DeepEqual(p["key_scopes"], object{}) {
		t.Errorf("got %v", p)
	}
}

// TestAnAccountWithoutFactsIsNamed guarantees that the input of a question without facts has the account's id, and
// exists false.
func TestAnAccountWithoutFactsIsNamed(t *testing.T) {
	got := seen(t, resources.Question{AccountID: "acct-x-v1"})["account"]
	if !reflect.DeepEqual(got, object{"named": true, "id": "acct-x-v1", "exists": false, "status": ""}) {
		t.Errorf("got %v", got)
	}
}

// TestAnUnknownProjectStateIsAbsent guarantees that the input has the states active and deleting, and omits any other.
func TestAnUnknownProjectStateIsAbsent(t *testing.T) {
	for state, want := range map[string]string{"active": "active", "deleting": "deleting", "deleted": "absent", "": "absent", "ACTIVE": "absent"} {
		q := policytest.Question(policytest.ActiveSubject(), "project:a:b")
		q.Facts.ProjectState = state
		if got := seen(t, q)["target"].(object)["project_state"]; got != want {
			t.Errorf("%q: got %v", state, got)
		}
	}
}

// TestManyActionsAreStillThemselves guarantees that the bounded store of prepared actions never mixes them up.
func TestManyActionsAreStillThemselves(t *testing.T) {
	e := newEngine(t, policytest.Decision(t, `decision := {"allow": false, "reason": concat(" ", [input.action.id, min(input.action.patterns)])} if input.action.id != ""`+
		"\n\nelse := {\"allow\": false, \"reason\": \"\"}"), nothing)
	for round := range 2 {
		for i := range 5000 {
			q := policytest.Question(policytest.ActiveSubject(), "account:a:v"+itoa(i))
			d, err := e.Decide(t.Context(), q)
			if err != nil || d.Reason != q.Action.ID+" *:*:*" {
				t.Fatalf("round %d: %q %v", round, d.Reason, err)
			}
		}
	}
}

// TestServicesAreStillThemselves guarantees that what is most of a service is never taken for another one, whichever of
// its parts is different.
func TestServicesAreStillThemselves(t *testing.T) {
	e := newEngine(t, policytest.Decision(t, `decision := {"allow": false, "reason": json.marshal(input.principal)} if input.subject.id`), nothing)
	listed := func(members []string) object {
		out := object{}
		for _, m := range members {
			out[m] = true
		}
		return out
	}
	principals := []resources.Principal{{}}
	vary := func(set func(p *resources.Principal, v string)) {
		for _, p := range principals[:len(principals):len(principals)] {
			set(&p, "ab")
			principals = append(principals, p)
		}
	}
	vary(func(p *resources.Principal, v string) { p.ID = v })
	vary(func(p *resources.Principal, v string) { p.UUID = v })
	vary(func(p *resources.Principal, v string) { p.AccountID = v })
	vary(func(p *resources.Principal, v string) { p.Credential = resources.CredentialKey })
	vary(func(p *resources.Principal, v string) { p.Scopes = []string{v} })
	vary(func(p *resources.Principal, v string) { p.Scopes = []string{"a", "b"} })
	vary(func(p *resources.Principal, _ string) { p.KeyScopes = []string{resources.KeyScopeRead} })
	for round := range 2 {
		for _, p := range principals {
			p.Kind = resources.PrincipalService
			q := policytest.Question(policytest.ActiveSubject(), "project:a:b")
			q.Principal = p
			d, err := e.Decide(t.Context(), q)
			if p.Credential != resources.CredentialKey {
				p.Credential, p.KeyScopes = resources.CredentialNone, nil
			}
			want, _ := json.Marshal(object{
				"kind": p.Kind, "id": p.ID, "uuid": p.UUID, "account": p.AccountID, "credential": p.Credential,
				"scopes": listed(p.Scopes), "key_scopes": listed(p.KeyScopes),
			})
			if err != nil || d.Reason != string(want) {
				t.Fatalf("round %d: %s, want %s, %v", round, d.Reason, want, err)
			}
		}
	}
}

// TestAssignmentsAreStillThemselves guarantees that what is most of an assignment or an account is never taken for
// another one, whichever of its parts is different.
func TestAssignmentsAreStillThemselves(t *testing.T) {
	e := newEngine(t, policytest.Decision(t, `decision := {"allow": false, "reason": json.marshal([input.account.exists, input.account.status, input.subject.assignments])} if input.subject.id`), nothing)
	first := resources.HeldRole{RoleID: "a", RoleScope: "b", RoleStatus: "c", Status: "d"}
	all := []resources.HeldRole{first}
	for _, vary := range []func(h *resources.HeldRole){
		func(h *resources.HeldRole) { h.RoleID = "z" }, func(h *resources.HeldRole) { h.Custom = true },
		func(h *resources.HeldRole) { h.RoleScope = "z" }, func(h *resources.HeldRole) { h.RoleStatus = "z" },
		func(h *resources.HeldRole) { h.Status = "z" }, func(h *resources.HeldRole) { h.ExpiresAt = 5 }, func(h *resources.HeldRole) { h.ProjectID = "p" },
	} {
		other := first
		vary(&other)
		all = append(all, other)
	}
	for round := range 2 {
		for i, h := range all {
			s := policytest.ActiveSubject()
			s.Assignments, s.AccountExists = []resources.HeldRole{h}, i%2 == 0
			s.AccountStatus = map[string]string{"d": resources.StatusActive, "z": resources.StatusSuspended}[h.Status]
			q := policytest.Question(s, "project:a:b")
			level := map[string]string{"": "ACCOUNT", "p": "PROJECT"}[h.ProjectID]
			want, _ := json.Marshal([]any{
				s.AccountExists, s.AccountStatus,
				object{h.ProjectID: object{"": []any{object{
					"role": h.RoleID, "custom": h.Custom, "level": level, "role_scope": h.RoleScope, "role_status": h.RoleStatus, "status": h.Status,
					"expires": cmp.Or(int64(h.ExpiresAt), int64(never)), "running": h.ExpiresAt == 0,
				}}}},
			})
			if d, err := e.Decide(t.Context(), q); err != nil || d.Reason != string(want) {
				t.Errorf("round %d: %s, want %s, %v", round, d.Reason, want, err)
			}
		}
	}
}

// TestAssignmentsAreFiledByPlace guarantees that the input files each assignment under its project and resource, with
// its level. An assignment without an end runs forever.
func TestAssignmentsAreFiledByPlace(t *testing.T) {
	s := policytest.ActiveSubject()
	for _, place := range [][2]string{{"", ""}, {"proj-a-v1", ""}, {"proj-a-v1", "disks/d-1"}, {"", "disks/d-1"}, {"proj-b-v1", ""}} {
		s.Assignments = append(s.Assignments, resources.HeldRole{RoleID: "r", ProjectID: place[0], ResourceID: place[1]})
	}
	levels := func(level string) []any {
		return []any{object{
			"role": "r", "custom": false, "level": level, "role_scope": "", "role_status": "", "status": "", "expires": never, "running": true,
		}}
	}
	want := object{
		"":          object{"": levels("ACCOUNT"), "disks/d-1": levels("")},
		"proj-a-v1": object{"": levels("PROJECT"), "disks/d-1": levels("RESOURCE")},
		"proj-b-v1": object{"": levels("PROJECT")},
	}
	if got := seen(t, policytest.Question(s, "account:user:read"))["subject"].(object)["assignments"]; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}
