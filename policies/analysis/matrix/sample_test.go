package matrix_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/analysis/matrix"
	"github.com/portcullis-authz/portcullis/policies/policytest"
)

// TestASampleOfTheTables holds one cheap change of the rules, the grants and the routes each, and two refactorings. All
// of them are asked about each night.
func TestASampleOfTheTables(t *testing.T) {
	tree := policytest.Copy(t, policies.Tree())
	old := compiled(t, tree)
	for _, c := range []struct{ kind, name string }{
		{"grant removed", "grants/data.json: team_member account:user:read"},
		{"word removed", "routes/data.json: authorization.explain service:authz:explain"},
		{"rule removed", "authz/service.rego:23: _open_to_services if input.principal.scopes[\"users:sync\"]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := generated(tree)
			i := slices.IndexFunc(all, func(m mutant) bool { return m.kind == c.kind && m.name == c.name })
			if i < 0 {
				t.Fatal("the table has no such change")
			}
			if o := examine(t, old, all[i]); o != foundIt {
				t.Errorf("%s", o)
			}
		})
	}
	for _, m := range refactorings(tree) {
		if m.name != "a rule renamed" && !strings.HasPrefix(m.name, "moved to another file: authz/service") {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			d, err := matrix.Compare(t.Context(), old, compiled(t, m.tree), 2)
			if err != nil || len(d.Rows)+len(d.Unreachable)+len(d.Gaps) > 0 {
				t.Errorf("%d rows, %d unreachable, gaps %v, %v", len(d.Rows), len(d.Unreachable), d.Gaps, err)
			}
		})
	}
}
