//go:build nightly

package mcp_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/overlay"
)

// TestMutantsAreFoundOut guarantees that the random calls of TestNoAgentExceedsItsUser find each missing factor.
func TestMutantsAreFoundOut(t *testing.T) {
	whole := harness.Binary
	t.Cleanup(func() { harness.Binary = whole })
	builder := overlay.NewBuilder("../..", t.TempDir())
	for _, m := range mutants() {
		t.Run(m.name, func(t *testing.T) {
			harness.Binary = builder.Program(t, m.name, m.edits...)
			problem, _ := exceeding(t, 11, 200)
			if problem == "" {
				t.Fatal("not found out")
			}
			t.Log(problem)
		})
	}
}
