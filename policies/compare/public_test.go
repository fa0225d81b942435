package compare_test

import (
	"slices"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/policytest"
)

// TestARowPublicInOneTree guarantees a gap for a row with public calls in one tree only, if that tree denies some of them:
// the gateway asks it about nobody, not about the caller. If it opens the row to all, rows tell the gains and losses.
func TestARowPublicInOneTree(t *testing.T) {
	const (
		open   = "access := {\"allow\": true, \"reason\": \"open\"} if "
		member = "access := {\"allow\": true, \"reason\": \"member\"} if {\n\tinput.route.access.member\n\tinput.subject.status == \"ACTIVE\"\n}"
		always = "input.route.access.public"
		users  = "{\n\tinput.route.access.public\n\tinput.principal.kind == \"user\"\n}" // no public call has one
	)
	row := func(rule, access string) policytest.Tree {
		tree := withRoutes(t, `"hello": {"method": "GET", "path": "/api/v1/accounts/{accountId}/hello", "access": ["`+access+`"], "effect": "read", "upstream": "external"}, `)
		return tree.With("authz/own.rego", "package authz\n\n"+open+rule+"\n\n"+member+"\n")
	}
	for name, c := range map[string]struct {
		old, next       policytest.Tree
		gap, gain, loss bool
	}{
		"opened":              {old: row(always, "member"), next: row(always, "public"), gain: true},
		"closed":              {old: row(always, "public"), next: row(always, "member"), loss: true},
		"open in words":       {old: row(users, "public"), next: row(users, "member"), gap: true},
		"to be open in words": {old: row(users, "member"), next: row(users, "public"), gap: true},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := compare.Compare(t.Context(), compiled(t, c.old), compiled(t, c.next), 1)
			if err != nil {
				t.Fatal(err)
			}
			gap := slices.ContainsFunc(d.Gaps, func(gap compare.Gap) bool { return gap.At == "routes/data.json:1" && gap.Reads == "the route hello" })
			gain := slices.ContainsFunc(d.Rows, func(row compare.Row) bool { return row.Route == "hello" && row.New.Allow && !row.Old.Allow })
			loss := slices.ContainsFunc(d.Rows, func(row compare.Row) bool { return row.Route == "hello" && !row.New.Allow && row.Old.Allow })
			if gap != c.gap || gap != (len(d.Gaps) > 0) || !gap && (gain != c.gain || loss != c.loss) {
				t.Errorf("gap %t, gain %t, loss %t, gaps %+v", gap, gain, loss, d.Gaps)
			}
		})
	}
}
