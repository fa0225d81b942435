package compare_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/test/tier"
)

// TestGrantsOfUnlistedActionsAreFound guarantees a row for each action that a role newly grants or no longer grants,
// even if neither tree lists the action.
func TestGrantsOfUnlistedActionsAreFound(t *testing.T) {
	tier.Check(t)
	tree := policytest.Copy(t, policies.Tree())
	const grants, reads = "grants/data.json", `"account:user:read": true`
	granting := func(patterns string) *engine.Set {
		return compiled(t, tree.With(grants, strings.Replace(string(tree[grants].Data), reads, reads+patterns, 1)))
	}
	d, err := compare.Compare(t.Context(), granting(`, "project:widget:sand": true`),
		granting(`, "project:widget:paint": true, "project:*:buff": true, "project:gadget:*": true`), 2)
	if err != nil {
		t.Fatal(err)
	}
	for action, allowed := range map[string]bool{
		"project:widget:sand": false, "project:widget:paint": true, "project:unheard-of:buff": true, "project:gadget:unheard-of": true,
	} {
		if !slices.ContainsFunc(d.Rows, func(row compare.Row) bool {
			return row.Entry == "decision" && row.Action == action && row.Role == "team_member" && row.New.Allow == allowed && row.Old.Allow != allowed
		}) {
			t.Errorf("no row says that holders of team_member may (%v) do %s now, of %d rows", allowed, action, len(d.Rows))
		}
	}
}

// TestActionsOfUnlikeGrantsStayApart guarantees a row for the one of two listed actions that a role newly grants. All
// other roles grant both or neither.
func TestActionsOfUnlikeGrantsStayApart(t *testing.T) {
	tree := policytest.Copy(t, policytest.Few(t, policies.Tree()))
	const grants, reads = "grants/data.json", `"account:*:read": true`
	for _, action := range []string{"project:security_group:create", "project:security_group:delete"} {
		more := strings.Replace(string(tree[grants].Data), reads, reads+`, "`+action+`": true`, 1)
		d, err := compare.Compare(t.Context(), compiled(t, tree), compiled(t, tree.With(grants, more)), 2)
		if err != nil {
			t.Fatal(err)
		}
		gained := slices.DeleteFunc(d.Rows, func(row compare.Row) bool { return row.Entry != "decision" || !row.New.Allow || row.Old.Allow })
		if len(gained) == 0 || slices.ContainsFunc(gained, func(row compare.Row) bool { return row.Action != action }) {
			t.Errorf("%s: %d rows, %+v", action, len(gained), gained)
		}
	}
}
