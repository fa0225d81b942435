//go:build nightly

package compare_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/policytest"
)

// BenchmarkCompare is a comparison of the embedded tree with itself, with one more permission of a role, and with changes
// of rules on which all answers rest.
func BenchmarkCompare(b *testing.B) {
	tree := policytest.Copy(b, policies.Tree())
	old := compiled(b, tree)
	for name, next := range map[string]policytest.Tree{
		"itself":                   tree,
		"a deny rule":              tree.With("authz/more.rego", "package authz\n\ndeny contains \"no keys\" if input.principal.credential == \"key\"\n"),
		"a deny rule of no effect": tree.With("authz/more.rego", "package authz\n\ndeny contains \"never\" if { input.subject.exists; not input.subject.exists }\n"),
		"a condition":              tree.With("authz/more.rego", "package authz\n\nmet contains \"needs_same_account\"\n"),
	} {
		b.Run(name, func(b *testing.B) {
			set := compiled(b, next)
			b.ReportAllocs()
			for b.Loop() {
				d, err := compare.Compare(b.Context(), old, set, 2)
				if err != nil || len(d.Gaps) > 0 {
					b.Fatal(d, err)
				}
				b.ReportMetric(float64(d.Evaluations), "evaluations")
				b.ReportMetric(float64(d.Questions), "questions")
			}
		})
	}
}
