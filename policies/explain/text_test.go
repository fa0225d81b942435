package explain_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/explain"
	"github.com/portcullis-authz/portcullis/resources"
)

// TestAnExplanationIsDrawnAsATree guarantees that each line stands below its own branch.
func TestAnExplanationIsDrawnAsATree(t *testing.T) {
	x := resources.Explanation{
		Reason: "no role grants it", Code: "no_role", PolicyRevision: "2b2b870bfce9", AccountRevision: 2, Complete: true,
		Conditions: []resources.Condition{{Name: "needs_same_account", Holds: true}, {Name: "own_day", Says: "it is night"}},
		Fixes: []resources.Fix{
			{Steps: []resources.Step{{Kind: resources.StepAssign, RoleID: "project_admin", ProjectID: "proj-a-v1"}}},
			{Steps: []resources.Step{{Kind: resources.StepAssign, RoleID: "account_admin"}}},
		},
	}
	got := strings.Join(explain.Lines(x), "\n")
	want := `denied: no role grants it [no_role]
├─ conditions
│  ├─ yes  needs_same_account
│  └─ no   own_day: it is night
├─ would be allowed after one of
│  ├─ 1. allows 0 other actions here
│  │  └─ assign project_admin in proj-a-v1
│  └─ 2. allows 0 other actions here
│     └─ assign account_admin in the account
└─ policy 2b2b870bfce9, account revision 2, `
	if !strings.HasPrefix(got, want) {
		t.Errorf("printed\n%s\nwant\n%s…", got, want)
	}
}
