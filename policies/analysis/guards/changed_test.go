package guards_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/analysis/guards"
	"github.com/portcullis-authz/portcullis/policies/policytest"
)

const (
	// freeze is a rule that reads a number of the data.
	freeze = "package authz\n\nreasons contains \"frozen\" if input.now < data.freeze.until\n"
	// rows are two rows whose actions the same roles grant.
	rows = `,
  "a.open": {"method": "POST", "path": "/a/{id}", "action": "account:a:open", "effect": "write", "area": "access", "upstream": "access"},
  "b.open": {"method": "POST", "path": "/b/{id}", "action": "account:b:open", "effect": "write", "area": "access", "upstream": "access"}
}`
)

// guarded is a tree with a guard that never fires, and what else it says.
func guarded(t *testing.T, more string) policytest.Tree {
	t.Helper()
	return policytest.Small(t).With("guards/guards.rego", "package guards\n\ndeny contains \"never\" if false\n\nallow_not_exhaustive := true\n\n"+more).
		With("routes/data.json", strings.TrimSuffix(policytest.SmallRoutes, "\n}\n")+rows).
		With("authz/freeze.rego", freeze).With("freeze/data.json", `{"until": 1, "why": {"text": "x"}}`)
}

// TestChangesThatNoComparisonTellsAreRefused: the action or the effect of a row, and data that a rule reads, wherever it stands,
// unless the guards in force allow it by its name.
func TestChangesThatNoComparisonTellsAreRefused(t *testing.T) {
	edit := func(file, old, fresh string) func(policytest.Tree) policytest.Tree {
		return func(tree policytest.Tree) policytest.Tree {
			text := string(tree[file].Data)
			if !strings.Contains(text, old) {
				t.Fatalf("%s has no %s", file, old)
			}
			return tree.With(file, strings.ReplaceAll(text, old, fresh))
		}
	}
	reading := func(expression string) func(policytest.Tree) policytest.Tree {
		return func(tree policytest.Tree) policytest.Tree {
			return tree.With("authz/more.rego", "package authz\n\nreasons contains \"more\" if "+expression+"\n").With("limits/data.json", `{"most": [1], "x": {"y": 2}}`)
		}
	}
	both := func(changes ...func(policytest.Tree) policytest.Tree) func(policytest.Tree) policytest.Tree {
		return func(tree policytest.Tree) policytest.Tree {
			for _, change := range changes {
				tree = change(tree)
			}
			return tree
		}
	}
	limits := edit("limits/data.json", "1", "3")
	for name, c := range map[string]struct {
		before, change func(policytest.Tree) policytest.Tree
		want           []string
	}{
		"an action":           {nil, edit("routes/data.json", "account:a:open", "account:b:open"), []string{`data.routes["a.open"].action changes from "account:a:open" to "account:b:open"`}},
		"an effect":           {nil, edit("routes/data.json", `"account:a:open", "effect": "write"`, `"account:a:open", "effect": "read"`), []string{`data.routes["a.open"].effect`}},
		"actions exchanged":   {nil, both(edit("routes/data.json", "account:a:open", "account:x:open"), edit("routes/data.json", "account:b:open", "account:a:open"), edit("routes/data.json", "account:x:open", "account:b:open")), []string{`data.routes["a.open"].action`, `data.routes["b.open"].action`}},
		"a number":            {nil, edit("freeze/data.json", "1", "9999999999999"), []string{"data.freeze.until changes, and no comparison"}},
		"a number is gone":    {nil, edit("freeze/data.json", `"until": 1, `, ""), []string{"data.freeze.until is gone"}},
		"a file is gone":      {nil, func(tree policytest.Tree) policytest.Tree { return tree.Without("freeze/data.json") }, []string{"data.freeze.until is gone"}},
		"a rule and its data": {nil, reading("input.now in data.limits.most"), []string{"data.limits.most is new"}},
		"by a variable":       {reading("{ all := data.limits; input.now in all.most }"), limits, []string{"data.limits.most changes"}},
		"by a key":            {reading("input.now in data.limits[input.route.name]"), limits, []string{"data.limits.most changes"}},
		"by a folder":         {reading("input.now in data[input.route.name].most"), limits, []string{"data.limits.most changes"}},
		"all of it":           {reading("{ some x; walk(data.limits, [_, x]); x == input.now }"), limits, []string{"data.limits.most changes"}},
		"by a function":       {reading("_of(data.limits)\n\n_of(all) if input.now in all.most"), limits, []string{"data.limits.most changes"}},
		"by a package": {reading("data.lib.most"), both(limits, func(tree policytest.Tree) policytest.Tree {
			return tree.With("lib/lib.rego", "package lib\n\nmost if input.now in data.limits.most\n")
		}), []string{"data.limits.most changes"}},

		"what no rule reads":     {nil, edit("freeze/data.json", `"x"`, `"y"`), nil},
		"a new row":              {nil, edit("routes/data.json", `"b.open"`, `"c.open": {"method": "GET", "path": "/c", "action": "account:c:open", "effect": "read", "area": "access", "upstream": "access"}, "b.open"`), nil},
		"another field of a row": {nil, edit("routes/data.json", "/b/{id}", "/c/{id}"), nil},
		"a role":                 {nil, edit("grants/data.json", `"project:*:*": true`, `"project:*:*": true, "resource:*:*": true`), nil},
		"a rule":                 {nil, edit("authz/freeze.rego", "<", ">"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			before := guarded(t, "")
			if c.before != nil {
				before = c.before(before)
			}
			err := guards.Check(t.Context(), compiled(t, before), compiled(t, c.change(before)))
			if len(c.want) == 0 && err != nil {
				t.Errorf("got %v", err)
			}
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), "guards: "+want) || !strings.Contains(err.Error(), "to guards.may_change") {
					t.Errorf("got %v, want %s", err, want)
				}
			}
		})
	}
}

// TestChangesAreAllowedByTheirNames, by the tree in force and not by the new one.
func TestChangesAreAllowedByTheirNames(t *testing.T) {
	const until, action = "may_change contains \"data.freeze.until\"\n", "may_change contains `data.routes[\"a.open\"].action`\n"
	change := func(more string) policytest.Tree {
		tree := guarded(t, more).With("freeze/data.json", `{"until": 2}`)
		return tree.With("routes/data.json", strings.Replace(string(tree["routes/data.json"].Data), "account:a:open", "account:b:open", 1))
	}
	for name, c := range map[string]struct{ before, after, want string }{
		"by both names":          {until + action, until + action, ""},
		"taken away with that":   {until + action, "", ""},
		"by what they are below": {"may_change contains name if some name in {\"data.freeze\", \"data.routes\"}\n", "", ""},
		"by one":                 {until, until, `data.routes["a.open"].action`},
		"by the other":           {action, action, "data.freeze.until"},
		"by another name":        {action + "may_change contains \"data.freeze.unti\"\n", "", "data.freeze.until"},
		"by what is below it":    {action + "may_change contains \"data.freeze.until.x\"\n", "", "data.freeze.until"},
		"by all names":           {"may_change contains \"data\"\n", "", "data.freeze.until"},
		"by no name":             {action + "may_change contains 7\n", "", "data.freeze.until"},
		"by the new tree":        {"", until + action, "data.freeze.until"},
		"by a rule that fails":   {"may_change contains \"data.freeze\" if to_number(sprintf(\"%v\", [input.removed_guards])) == 1\n", "", "may_change can't be asked"},
		"by a list, and no set":  {"may_change := [\"data.freeze.until\"]\n", "may_change := [\"data.freeze.until\"]\n", "data.freeze.until"},
	} {
		t.Run(name, func(t *testing.T) {
			err := guards.Check(t.Context(), compiled(t, guarded(t, c.before)), compiled(t, change(c.after)))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	if err := guards.Check(t.Context(), compiled(t, guarded(t, until)), compiled(t, guarded(t, ""))); err != nil {
		t.Errorf("an allowance is taken away: %v", err)
	}
}
