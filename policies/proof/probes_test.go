package proof_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestATreeThatAllowsThoseWithoutRightsIsRefused guarantees that Load rejects a tree without one of the conditions,
// though its own tests pass. The problem names the caller whom the tree allows, once for an entry point.
func TestATreeThatAllowsThoseWithoutRightsIsRefused(t *testing.T) {
	all := func(condition string) string {
		return `every a in object.get(input.subject.assignments, ["", ""], []) { ` + condition + ` }`
	}
	conditions := map[string]string{
		"a member who holds no role":                 `count(input.subject.assignments) > 0`,
		"a user who is not known":                    `input.subject.exists`,
		"a suspended user":                           `input.subject.status != "SUSPENDED"`,
		"a user who is no member of the account":     `input.subject.member`,
		"a user of an account that is deleted":       `input.account.exists`,
		"a user whose only assignment has ended":     all(`input.now < a.expires`),
		"a user whose only assignment is not active": all(`a.status == "ACTIVE"`),
		"a user whose only role is not active":       all(`a.role_status == "ACTIVE"`),
		"an API key without a scope":                 `input.principal.credential == "token"`,
	}
	allowing := func(conditions []string) policytest.Tree {
		rules := "package authz\n\n"
		for _, entry := range []string{"decision", "access", "grantable"} {
			rules += "default " + entry + ` := {"allow": false, "reason": "no"}` + "\n\n" + entry + ` := {"allow": true, "reason": "x"} if {` +
				"\n\t" + strings.Join(conditions, "\n\t") + "\n}\n\n"
		}
		return policytest.Small(t).With("authz/authz.rego", rules)
	}
	refused := func(t *testing.T, tree policytest.Tree, name string) {
		_, err := load(t, tree)
		if err == nil || !strings.Contains(err.Error(), "authz/authz.rego:") || !strings.Contains(err.Error(), "authz.access allows "+name+", which must be denied") {
			t.Fatalf("got %v", err)
		}
		if lines := strings.Count(err.Error(), "\n") + 1; lines > 3 {
			t.Errorf("%d lines for three entry points:\n%v", lines, err)
		}
	}
	for name := range conditions {
		t.Run(name, func(t *testing.T) {
			remaining := maps.Clone(conditions)
			delete(remaining, name)
			refused(t, allowing(slices.Collect(maps.Values(remaining))), name)
		})
	}
	must.Get(load(t, allowing(slices.Collect(maps.Values(conditions)))))(t)
	for name, kind := range map[string]string{"a caller without a credential on authorization.check": "none", "a service without a scope on authorization.check": "service"} {
		t.Run(name, func(t *testing.T) {
			refused(t, allowing([]string{`input.route.name != ""`, `input.principal.kind == "` + kind + `"`}), name)
		})
	}
}
