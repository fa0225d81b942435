package compare_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/policytest"
)

// TestTheTableAgreesWithTheEngine guarantees that the table and a whole evaluation of both trees give the same answers
// to random questions. It also asks about other holdings of a class than the one that the table evaluates.
func TestTheTableAgreesWithTheEngine(t *testing.T) {
	tree := policytest.Copy(t, policies.Tree())
	old := compiled(t, tree)
	const member = "the user is not an active member of the account"
	reasons := strings.Replace(string(tree["authz/reasons.rego"].Data), member, "no active member", 1)
	next := compiled(t, tree.With("authz/reasons.rego", reasons).With("authz/more.rego", `package authz

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
		asked, changed, err := compare.Agree(t.Context(), old, next, seed, 60)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("seed %d: %d questions, of which %d are answered differently", seed, asked, changed)
		if changed == 0 {
			t.Error("no question is answered differently, which shows nothing")
		}
	}
}
