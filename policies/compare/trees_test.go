package compare_test

import (
	"context"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/proof"
)

func compiled(tb testing.TB, tree policytest.Tree) *engine.Set {
	tb.Helper()
	src, err := policies.Read(tree)
	if err != nil {
		tb.Fatal(err)
	}
	s, _, err := proof.Compile(context.Background(), src)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}
