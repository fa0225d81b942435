package engine_test

import (
	"fmt"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestActionsAreListedWithTheirUses guarantees for each action its rows, the matching permissions of system roles and no
// others, and the text of the tree. A reload changes the list.
func TestActionsAreListedWithTheirUses(t *testing.T) {
	shipped := policytest.Copy(t, policies.Tree())
	e := newEngine(t, shipped, engine.Options{})
	uses := func() map[string]string {
		out := map[string]string{}
		for _, use := range e.ActionUses() {
			var routes []string
			for _, r := range use.Routes {
				routes = append(routes, r.Name)
			}
			out[use.ID] = fmt.Sprintf("%s %q %q %q", use.Scope, use.Description, routes, use.Patterns)
		}
		return out
	}
	first := uses()
	for action, want := range map[string]string{
		"account:group:read":  `account "" ["group.get" "group.list" "group_member.list"] ["account:*:*" "account:*:read"]`,
		"account:user:read":   `account "" ["user.list"] ["account:*:*" "account:*:read" "account:user:read"]`,
		"account:user:delete": `account "" ["user.remove"] ["account:*:*"]`,
	} {
		if first[action] != want {
			t.Errorf("%s: %s, want %s", action, first[action], want)
		}
	}
	const added = "resource:instance:stop"
	if first[added] != "" {
		t.Errorf("%s is listed: %s", added, first[added])
	}
	must.Do(t, e.Reload(t.Context(), shipped.With("actions/data.json", `{"known": {"`+added+`": {"description": "Stops it."}}}`)))
	if got, want := uses()[added], `resource "Stops it." [] ["resource:*:*"]`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if len(e.ActionUses()) != len(e.Actions()) {
		t.Errorf("%d of %d actions", len(e.ActionUses()), len(e.Actions()))
	}
}
