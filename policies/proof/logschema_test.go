package proof_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestRulesAboutTheLogAreHeldToItsSchema guarantees that rules about the decision log are checked against the schema of
// its records, also in a tree without this schema.
func TestRulesAboutTheLogAreHeldToItsSchema(t *testing.T) {
	const mask = `package system.log

mask contains "/input/subject" if input.path == "authz/decision"

drop if input.labels.app == "portcullis"
`
	_, err := load(t, policytest.Small(t).With("log/mask.rego", mask))
	must.Do(t, err)
	_, err = load(t, policytest.Small(t).With("log/mask.rego", strings.Replace(mask, "input.path", "input.pat", 1)))
	if err == nil || !strings.Contains(err.Error(), "log/mask.rego:3: rego_type_error: undefined ref: input.pat") {
		t.Errorf("got %v", err)
	}
}
