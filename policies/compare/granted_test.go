package compare_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/policytest"
)

// TestASearchInEachTreeIsSaid guarantees a gap if one tree allows a grant by a permission in it, and the other denies by
// one: with both permissions, access changes as it does with neither alone.
func TestASearchInEachTreeIsSaid(t *testing.T) {
	const head = "package authz\n\ngrantable := {\"allow\": true, \"reason\": \"so\"} if {\n\tinput.principal.kind == \"user\"\n\t"
	const some = "\n}\n\nx if { some p, _ in input.grant.permissions; p == "
	small := policytest.Small(t)
	for name, c := range map[string]struct {
		old, next string
		said      bool
	}{
		"opposite":       {"not x" + some + "\"project:a:read\" }\n", "x" + some + "\"project:b:read\" }\n", true},
		"opposite, else": {"not x" + some + "\"project:a:read\" }\n", "y" + some + "\"project:b:read\" }\n\ny := false if not x\n\nelse := true\n", true},
		"both deny":      {"not x" + some + "\"project:a:read\" }\n", "not x" + some + "\"project:b:read\" }\n", false},
		"both allow":     {"x" + some + "\"project:a:read\" }\n", "x" + some + "\"project:b:read\" }\n", false},
		"one is gone":    {"not x" + some + "\"project:a:read\" }\n", "true\n}\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			gaps, err := compare.GapsOf(t.Context(), compiled(t, small.With("authz/more.rego", head+c.old)), compiled(t, small.With("authz/more.rego", head+c.next)))
			if err != nil || len(gaps) > 0 != c.said {
				t.Errorf("gaps %v, %v", gaps, err)
			}
		})
	}
}
