package diff_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/compare/diff"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
)

// TestADiffHasTheMessageOfARow guarantees that another message of a row is a difference.
func TestADiffHasTheMessageOfARow(t *testing.T) {
	row := func(mcp string) *engine.Set {
		rows := strings.TrimSuffix(strings.TrimSpace(policytest.SmallRoutes), "}") +
			`,"w.a": {"method": "POST", "host": "w.example", "path": "/mcp", ` + mcp + `"access": ["self"], "effect": "read", "upstream": "external"}}`
		return tree(t, "routes/data.json", rows)
	}
	const open, shut = `"mcp": {"method": "tools/call", "name": "open"}, `, `"mcp": {"method": "tools/call", "name": "shut"}, `
	for name, c := range map[string]struct {
		old, next *engine.Set
		fields    string
	}{
		"the same":         {row(open), row(open), ""},
		"another tool":     {row(open), row(shut), "mcp.name open -> shut;"},
		"no tool any more": {row(open), row(""), "mcp.method tools/call -> ;mcp.name open -> ;"},
	} {
		r, err := diff.Compare(t.Context(), c.old, c.next, 1)
		if err != nil {
			t.Fatal(err)
		}
		fields := ""
		for _, f := range r.Routes {
			fields += f.Field + " " + f.Old + " -> " + f.New + ";"
		}
		if fields != c.fields || r.Differs() != (c.fields != "") {
			t.Errorf("%s: %q\n%s", name, fields, r.Text())
		}
	}
}
