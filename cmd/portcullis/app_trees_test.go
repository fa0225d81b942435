package main

import (
	"io/fs"
	"testing"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/tickets"
	"github.com/portcullis-authz/portcullis/policies/overlay"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestShippedTreesHold guarantees that the probes and tests of each tree of the program pass: a start leaves them out.
func TestShippedTreesHold(t *testing.T) {
	for name, tree := range map[string]fs.FS{"serve": must.Get(policyTree(""))(t), "serve --demo": tickets.Policy()} {
		_, tests, err := proof.Prove(t.Context(), must.Get(overlay.Read(tree))(t))
		if err != nil || tests == 0 {
			t.Errorf("%s: %d tests passed, %v", name, tests, err)
		}
	}
}
