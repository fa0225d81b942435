package matrix_test

import (
	"context"
	"strings"
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

// edit is a tree with one text of a file replaced.
func edit(tb testing.TB, tree policytest.Tree, file, old, fresh string) policytest.Tree {
	tb.Helper()
	text := string(tree[file].Data)
	if strings.Count(text, old) < 1 {
		tb.Fatalf("%s does not have %q", file, old)
	}
	return tree.With(file, strings.Replace(text, old, fresh, 1))
}
