package proof_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// listing returns the small tree with these actions, and a schema that accepts any object.
func listing(t *testing.T, actions string) policytest.Tree {
	return policytest.Small(t).With("schemas/actions/schema.json", `{"type": "object"}`).With("actions/data.json", actions)
}

// TestTheTreeListsItsActions guarantees one list of the actions of routes and of other services, each once.
func TestTheTreeListsItsActions(t *testing.T) {
	ids := func(listed []resources.ListedAction) (out []string) {
		for _, a := range listed {
			out = append(out, a.ID+" "+a.Verb+" "+a.Description)
		}
		return out
	}
	const check = "account:authorization:check check "
	for name, c := range map[string]struct {
		tree   policytest.Tree
		want   []string
		strict bool
	}{
		"no file":  {policytest.Small(t), []string{check}, false},
		"nothing":  {listing(t, `{}`), []string{check}, false},
		"strict":   {listing(t, `{"strict": true}`), []string{check}, true},
		"known":    {listing(t, `{"known": {"project:vm:stop": {"description": "Stops it."}}}`), []string{check, "project:vm:stop stop Stops it."}, false},
		"in both":  {listing(t, `{"known": {"account:authorization:check": {"description": "Asks."}}}`), []string{check + "Asks."}, false},
		"in order": {listing(t, `{"known": {"project:b:c": {"description": "x"}, "account:a:b": {"description": "x"}}}`), []string{"account:a:b b x", check, "project:b:c c x"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			set := must.Get(load(t, c.tree))(t)
			if got := ids(set.Actions()); !slices.Equal(got, c.want) || set.Strict() != c.strict {
				t.Errorf("got %q, strict %v", got, set.Strict())
			}
		})
	}
}

// TestLooseSchemasDontLetBadActionsIn guarantees that the program checks the actions itself, also if the tree's schema
// accepts any object.
func TestLooseSchemasDontLetBadActionsIn(t *testing.T) {
	for want, actions := range map[string]string{
		`actions/data.json:1: known: action "project:*:read" must have the form`:                  `{"known": {"project:*:read": {"description": "x"}}}`,
		`actions/data.json:2: known: project:a:read has no description: say what the action does`: "{\"known\": {\n\"project:a:read\": {}}}",
		`unknown field "unknown"`: `{"unknown": {}}`,
		`cannot unmarshal`:        `{"strict": 1}`,
	} {
		t.Run(want, func(t *testing.T) {
			if _, err := load(t, listing(t, actions)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v", err)
			}
		})
	}
}
