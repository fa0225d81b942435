package engine_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestTreeThatAllowsOtherwiseIsNotByRoles: a search over the holders of roles is complete for the embedded tree and
// for one with more denials. It is incomplete for a tree with another way to allow.
func TestTreeThatAllowsOtherwiseIsNotByRoles(t *testing.T) {
	embedded := policytest.Copy(t, policies.Tree())
	changed := func(name, old, replacement string) policytest.Tree {
		text := string(embedded[name].Data)
		if !strings.Contains(text, old) {
			t.Fatalf("%s does not hold %q", name, old)
		}
		return embedded.With(name, strings.Replace(text, old, replacement, 1))
	}
	for name, c := range map[string]struct {
		tree policytest.Tree
		want bool
	}{
		"the embedded tree": {embedded, true},
		"a deny rule more": {embedded.With("authz/own.rego", `package authz

deny contains "not today" if input.action.id == "account:project:delete"
`), true},
		"other words": {changed("authz/reasons.rego", "role %s grants {action}", "%s grants {action}"), true},
		"other comments and names of variables": {changed("authz/roles.rego", `some pattern in input.action.patterns
	permissions[pattern]`, `some p in input.action.patterns # one
	permissions[p]`), true},
		"a function in the place of a built-in": {embedded.With("authz/own.rego", `package authz

min(all) := json.unmarshal("\"own\"") if count(all) == 0

else := [one | some one in all][0]
`), false},
		"a function of the reasons": {changed("authz/reasons.rego", `	"allow": true,`, `	"allow": code != "x",`), false},
		"a rule that it reaches": {embedded.With("authz/own.rego", `package authz

_reaches("PROJECT") if input.action.scope == "account"
`), false},
		"a branch more of the decision": {changed("authz/decision.rego", "else := reason_no_role if preconditions_met", `else := allowed("self", []) if input.subject.id == "user-root-v1"

else := reason_no_role if preconditions_met`), false},
		"a role from elsewhere": {embedded.With("authz/own.rego", `package authz

granting_role := "own" if input.subject.id == "user-root-v1"
`), false},
		"another role for the action":  {changed("authz/roles.rego", "	permissions[pattern]", "	object.get(permissions, pattern, true)"), false},
		"other permissions":            {changed("authz/roles.rego", "data.grants[assignment.role].permissions", "data.grants.account_admin.permissions"), false},
		"an assignment that has ended": {changed("authz/roles.rego", "	assignment.running == true\n", ""), false},
	} {
		t.Run(name, func(t *testing.T) {
			e := must.Get(engine.New(t.Context(), c.tree, compile, engine.Options{}))(t)
			if got := e.Pin().ByRoles(); got != c.want {
				t.Errorf("%t, want %t", got, c.want)
			}
		})
	}
}

// TestGrantingRolesAreThoseOfTheTable, by the eight patterns of the action.
func TestGrantingRolesAreThoseOfTheTable(t *testing.T) {
	e := must.Get(engine.New(t.Context(), policies.Tree(), compile, engine.Options{}))(t)
	for action, want := range map[string]string{
		"project:instance:read":   "account_admin account_reader project_admin project_reader",
		"project:instance:create": "account_admin project_admin",
		"account:user:read":       "account_admin account_reader team_member",
		"resource:disk:read":      "account_admin",
	} {
		q := policytest.Question(policytest.ActiveSubject(), action)
		if got := strings.Join(e.Pin().Granting(q.Action), " "); got != want {
			t.Errorf("%s: %s, want %s", action, got, want)
		}
	}
}
