package engine_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/resources"
)

// TestAStrictTreeDeniesWhatItDoesNotList guarantees that data alone makes a tree strict, with any rules. No role of a
// strict tree grants an action outside of the catalogue and `known`.
func TestAStrictTreeDeniesWhatItDoesNotList(t *testing.T) {
	const listed = `"known": {"project:instance:read": {"description": "Sees an instance."}}`
	shipped := policytest.Copy(t, policies.Tree())
	blind := policytest.Decision(t, `default decision := {"allow": false, "reason": "no"}

decision := {"allow": true, "reason": "an admin"} if some item in input.subject.assignments[""][""]`).
		With("schemas/actions/schema.json", string(shipped["schemas/actions/schema.json"].Data))
	const unknown, check = "project:instance:create", "account:authorization:check"
	for name, c := range map[string]struct {
		actions string
		allowed map[string]bool
	}{
		"strict":             {`{"strict": true, ` + listed + `}`, map[string]bool{"project:instance:read": true, check: true}},
		"strict, none known": {`{"strict": true}`, map[string]bool{check: true}},
		"not strict":         {`{"strict": false, ` + listed + `}`, map[string]bool{"project:instance:read": true, check: true, unknown: true}},
		"it does not say":    {`{` + listed + `}`, map[string]bool{"project:instance:read": true, check: true, unknown: true}},
		"nothing listed":     {`{}`, map[string]bool{"project:instance:read": true, check: true, unknown: true}},
	} {
		for kind, tree := range map[string]policytest.Tree{"the shipped tree": shipped, "a tree that reads no action": blind} {
			t.Run(name+", "+kind, func(t *testing.T) {
				e := newEngine(t, tree.With("actions/data.json", c.actions), engine.Options{})
				for range 2 { // the second time from the cache
					for _, action := range []string{"project:instance:read", check, unknown} {
						q := policytest.Question(policytest.AdminSubject(), action)
						for door, decide := range map[string]func() (resources.Decision, error){
							"the engine":        func() (resources.Decision, error) { return e.Decide(t.Context(), q) },
							"the engine inside": func() (resources.Decision, error) { return e.Inside().Decide(t.Context(), q) },
						} {
							d, err := decide()
							if err != nil || d.Allowed != c.allowed[action] || d.PolicyRevision != e.Revision() {
								t.Errorf("%s: %s: %+v, %v", door, action, d, err)
							}
							if !d.Allowed && (d.Code != "needs_known_action" || d.Reason != "unknown action") {
								t.Errorf("%s: %s: %+v", door, action, d)
							}
						}
					}
				}
			})
		}
	}
}

// TestAStrictTreeAdmitsAndGrants guarantees that what names no action, or one of the catalogue, is asked as before.
func TestAStrictTreeAdmitsAndGrants(t *testing.T) {
	e := newEngine(t, policytest.Copy(t, policies.Tree()).With("actions/data.json", `{"strict": true}`), engine.Options{})
	q := policytest.Question(policytest.AdminSubject(), "project:security_group:create")
	q.Route = &resources.Route{Name: "security_group.create", Effect: resources.EffectWrite}
	q.Target.Resource, q.Target.Rest = "", ""
	if d, err := e.Access(t.Context(), q); err != nil || !d.Allowed {
		t.Errorf("%+v, %v", d, err)
	}
	g := policytest.Grant(q, "project:instance:create")
	if d, err := e.Inside().Grantable(t.Context(), g); err != nil || !d.Allowed {
		t.Errorf("%+v, %v", d, err)
	}
}
