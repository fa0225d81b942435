package compare_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/test/tier"
)

// TestASampleOfTheTables holds one cheap change of the grants and the routes each, and two refactorings. All
// of them are asked about each night.
func TestASampleOfTheTables(t *testing.T) {
	tree := policytest.Copy(t, policies.Tree())
	old := compiled(t, tree)
	for _, c := range []struct{ kind, name string }{
		{"grant removed", "grants/data.json: team_member account:user:read"},
		{"word removed", "routes/data.json: authorization.explain service:authz:explain"},
	} {
		t.Run(c.name, func(t *testing.T) { examineOne(t, old, generated(tree), c.kind, c.name) })
	}
	for _, m := range refactorings(tree) {
		if m.name != "a rule renamed" && !strings.HasPrefix(m.name, "moved to another file: authz/service") {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			d, err := compare.Compare(t.Context(), old, compiled(t, m.tree), 2)
			if err != nil || len(d.Rows)+len(d.Unreachable)+len(d.Gaps) > 0 {
				t.Errorf("%d rows, %d unreachable, gaps %v, %v", len(d.Rows), len(d.Unreachable), d.Gaps, err)
			}
		})
	}
}

// TestASampleOfTheRules holds one change of the rules, which takes longer than the rest of the sample.
func TestASampleOfTheRules(t *testing.T) {
	tier.Check(t)
	tree := policytest.Copy(t, policies.Tree())
	examineOne(t, compiled(t, tree), generated(tree), "rule removed", "authz/service.rego:23: _open_to_services if input.principal.scopes[\"users:sync\"]")
}

// examineOne requires the change of that name to be found.
func examineOne(t *testing.T, old *engine.Set, all []mutant, kind, name string) {
	t.Helper()
	i := slices.IndexFunc(all, func(m mutant) bool { return m.kind == kind && m.name == name })
	if i < 0 {
		t.Fatal("the table has no such change")
	}
	if o := examine(t, old, all[i], 4*patience); o != foundIt {
		t.Errorf("%s", o)
	}
}
