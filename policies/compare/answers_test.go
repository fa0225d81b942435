//go:build !race

package compare_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/compare/diff"
	"github.com/portcullis-authz/portcullis/policies/policytest"
)

// TestAnswersAreReadAsByTheGateway guarantees rows for a change from an answer in a wrong form, refused by the gateway,
// to one in the right form.
func TestAnswersAreReadAsByTheGateway(t *testing.T) {
	base, form := policytest.Few(t, policies.Tree()), `{"allow": true, "reason": "so", "code": "yes"}`
	for name, other := range map[string]string{
		"a member too many": `{"allow": true, "reason": "so", "code": "yes", "more": 1}`,
		"another member":    `{"allow": true, "reason": "so", "codes": "yes"}`,
		"no reason":         `{"allow": true, "code": "yes"}`,
		"a reason's type":   `{"allow": true, "reason": 1, "code": "yes"}`,
		"a code's type":     `{"allow": true, "reason": "so", "code": null}`,
		"a permission's":    `{"allow": "true", "reason": "so", "code": "yes"}`,
		"no permission":     `{"reason": "so", "code": "yes"}`,
		"no object":         `true`,
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			grantable := func(answer string) string { return "package authz\n\ngrantable := " + answer + "\n" }
			p, problem := compile(t.Context(), t, &policytest.Edit{Base: base, Pieces: []policytest.Piece{
				{File: "authz/grantable.rego", Old: grantable(other), New: grantable(form)},
			}})
			if problem != nil {
				t.Fatal(problem)
			}
			report, err := diff.Compare(t.Context(), p.sets[0], p.sets[1], 2)
			if err != nil {
				t.Fatal(err)
			}
			rows := turning(report)
			if len(rows) == 0 {
				t.Error("no row")
			}
			for _, row := range rows {
				if row.entry != "grantable" || !row.gained {
					t.Errorf("%+v", row)
				}
			}
		})
	}
}
