package compare_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/policytest"
)

// TestADerivedColumnBesideItsSource guarantees a row for a rule that reads both a column and its source. The rule only
// compares the source with a constant.
func TestADerivedColumnBesideItsSource(t *testing.T) {
	tree := policytest.Small(t)
	const all = "access := decision if"
	before := tree.With("authz/authz.rego", strings.Replace(policytest.SmallAuthz, all, "access := {\"allow\": false, \"reason\": \"denied\"} if data.authz.deny != set()\n\nelse := decision if", 1))
	for _, condition := range []string{
		"not input.target.project == \"proj-x\"; input.target.level == \"project\"",
		"not input.target.rest == \"m\"; input.target.kind == \"clusters\"",
		"not input.target.account == \"acct-x\"; not input.target.same_account",
		"not input.account.id == \"acct-x\"; not input.account.named",
		"not input.subject.id == \"user-x\"; input.subject.is_caller",
	} {
		t.Run(condition, func(t *testing.T) {
			t.Parallel()
			d, err := compare.Compare(t.Context(), compiled(t, before), compiled(t, before.With("authz/more.rego", "package authz\n\ndeny contains \"x\" if { "+condition+" }\n")), 1)
			if err != nil {
				t.Fatal(err)
			}
			if len(d.Rows)+len(d.Unreachable) == 0 || len(d.Gaps) > 0 {
				t.Errorf("%d rows, gaps %v", len(d.Rows)+len(d.Unreachable), d.Gaps)
			}
		})
	}
}
