package limits_test

import (
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/limits"
)

// TestEveryBuiltInIsJudged guarantees that each built-in of OPA has either a cost or a reason against it. A new version
// of OPA with another built-in fails here.
func TestEveryBuiltInIsJudged(t *testing.T) {
	for _, b := range ast.CapabilitiesForThisVersion().Builtins {
		if allowed, refused := limits.Judged(b.Name); allowed == refused {
			t.Errorf("%s: allowed %v, refused %v", b.Name, allowed, refused)
		}
	}
}
