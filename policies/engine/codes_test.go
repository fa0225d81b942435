package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestCodesAreTheTreesConstants guarantees that a tree's own codes are known, in both forms of reason_texts, and are bounded.
func TestCodesAreTheTreesConstants(t *testing.T) {
	codes := func(tree policytest.Tree) []string {
		e := must.Get(engine.New(t.Context(), tree, compile, engine.Options{}))(t)
		return e.Codes()
	}
	embedded := policytest.Copy(t, policies.Tree())
	shipped := codes(embedded)
	if !slices.Contains(shipped, "no_role") || slices.Contains(shipped, "mine") || !slices.IsSorted(shipped) {
		t.Errorf("%q", shipped)
	}
	more := codes(embedded.With("authz/mine.rego", "package authz\n\nreason_texts[\"mine\"] := \"x\"\n"))
	if len(more) != len(shipped)+1 || !slices.Contains(more, "mine") {
		t.Errorf("%q", more)
	}
	if whole := codes(policytest.Small(t).With("authz/mine.rego", "package authz\n\nreason_texts := {\"a\": \"x\", \"b\": \"y\"}\n")); !slices.Equal(whole, []string{"a", "b"}) {
		t.Errorf("%q", whole)
	}
	var many strings.Builder
	for i := range 300 {
		fmt.Fprintf(&many, "reason_texts[\"c%03d\"] := \"x\"\n\n", i)
	}
	if all := codes(policytest.Small(t).With("authz/mine.rego", "package authz\n\n"+many.String())); len(all) != 200 {
		t.Errorf("%d codes", len(all))
	}
}
