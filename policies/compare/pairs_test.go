//go:build nightly

package compare_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/policytest"
)

// TestAssignmentsBesideEachOther guarantees a row for a rule about a second assignment beside the granting one, and a
// gap for larger sets.
func TestAssignmentsBesideEachOther(t *testing.T) {
	tree := policytest.Copy(t, policies.Tree())
	for name, c := range map[string]struct{ rule, want string }{
		"one that has ended": {"deny contains \"ended\" if {\n\tsome held in input.subject.here\n\theld.running == false\n}\n", "lost"},
		"all are active":     {"deny contains \"all\" if {\n\tnot _all\n}\n\n_all if {\n\tevery held in input.subject.here {\n\t\theld.role_status == \"ACTIVE\"\n\t}\n}\n", "lost"},
		"three":              {"deny contains \"three\" if count(input.subject.here) == 3\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := compare.Compare(t.Context(), compiled(t, tree), compiled(t, tree.With("authz/more.rego", "package authz\n\n"+c.rule)), 2)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d rows, %d questions, %d evaluations, %v", len(d.Rows), d.Questions, d.Evaluations, d.Gaps)
			hasGap := false
			for _, gap := range d.Gaps {
				hasGap = hasGap || strings.HasPrefix(gap.At, "authz/more.rego:")
			}
			if !hasGap {
				t.Errorf("no gap is told: %v", d.Gaps)
			}
			if c.want == "lost" && (len(d.Rows) == 0 || d.Rows[0].New.Allow) {
				t.Error("lost access was not found")
			}
		})
	}
	changed := strings.Replace(string(tree["authz/roles.rego"].Data), "\tassignment.running == true\n", "", 1)
	d, err := compare.Compare(t.Context(), compiled(t, tree), compiled(t, tree.With("authz/roles.rego", changed)), 2)
	if err != nil || len(d.Rows) == 0 || len(d.Gaps) != 0 {
		t.Errorf("the shipped rules read one assignment at a time: %d rows, %v, %v", len(d.Rows), d.Gaps, err)
	}
}
