package compare_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/policytest"
)

// TestAPlaceIsThatOfTheFirstRule guarantees the location of the first rule in any order of reading, before that of a
// default or of a called function.
func TestAPlaceIsThatOfTheFirstRule(t *testing.T) {
	set := compiled(t, policytest.Small(t).With("authz/aaa.rego", "package authz\n\n_known(id) if id != \"\"\n").With("authz/authz.rego",
		policytest.SmallAuthz+"\ngrantable := {\"allow\": true, \"reason\": \"known\"} if _known(input.subject.id)\n"))
	for range 30 {
		places, err := compare.Places(t.Context(), set)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{"data.authz.decision": "authz/authz.rego:12", "data.authz.grantable": "authz/authz.rego:26"} {
			if places[name] != want {
				t.Fatalf("%s is at %s, not at %s", name, places[name], want)
			}
		}
	}
}
