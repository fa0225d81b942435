package compare_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/policytest"
)

// TestTheTableAgreesWithTheEngine: random questions of each entry point, evaluated whole by both trees, have the answers
// that the table has of them, also where a holding is told by another of its class.
func TestTheTableAgreesWithTheEngine(t *testing.T) {
	tree := policytest.Copy(t, policies.Tree())
	old := compiled(t, tree)
	const member = "the user is not an active member of the account"
	reasons := strings.Replace(string(tree["authz/reasons.rego"].Data), member, "no active member", 1)
	fresh := compiled(t, tree.With("authz/reasons.rego", reasons).With("authz/more.rego", `package authz

deny contains "not on Sundays" if {
	input.action.verb == "delete"
	count(input.subject.here) > 1
}

deny contains "no keys here" if {
	input.principal.credential == "key"
	some held in input.subject.here
	held.role_status != "ACTIVE"
}
`))
	for seed := range uint64(1) {
		asked, changed, err := compare.Agree(t.Context(), old, fresh, seed, 60)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("seed %d: %d questions, of which %d are answered differently", seed, asked, changed)
		if changed == 0 {
			t.Error("no question is answered differently, which shows nothing")
		}
	}
}
