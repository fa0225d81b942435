package compare_test

import (
	"encoding/json"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/test/tier"
)

// TestTwoRunsReportTheSame guarantees that rows with equal columns have one order, and one content, in every run.
func TestTwoRunsReportTheSame(t *testing.T) {
	base := policytest.Copy(t, policies.Tree())
	old, next := compiled(t, base), compiled(t, base.With("authz/closed.rego",
		"package authz\n\ndeny contains \"closed\" if input.grant.permissions[\"project:*:*\"]\n"))
	var first string
	for run := range tier.Amount(4, 2) {
		report, err := compare.Compare(t.Context(), old, next, 2)
		if err != nil {
			t.Fatal(err)
		}
		var all []any
		for _, row := range append(report.Rows, report.Unreachable...) {
			all = append(all, row, row.Asked)
		}
		text, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		if run == 0 {
			first = string(text)
		} else if string(text) != first {
			t.Fatalf("run %d differs from the first one", run)
		}
	}
	if first == "[]" {
		t.Error("the trees do not differ")
	}
}
