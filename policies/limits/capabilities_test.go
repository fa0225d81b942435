package limits_test

import (
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/limits"
)

// TestEveryBuiltInIsJudged guarantees that a new one of OPA is let in only when it is known what it
// makes, and that none that is let in is said to be refused.
func TestEveryBuiltInIsJudged(t *testing.T) {
	for _, b := range ast.CapabilitiesForThisVersion().Builtins {
		if allowed, refused := limits.Judged(b.Name); allowed == refused {
			t.Errorf("%s: allowed %v, refused %v", b.Name, allowed, refused)
		}
	}
}
