package proof_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/resources"
)

// TestRowsForMessagesOfMCP guarantees that rows of one path may be for different messages. The proof rejects a row without
// a possible message, and one for more messages than it says. It does so under loose schemas, too.
func TestRowsForMessagesOfMCP(t *testing.T) {
	row := func(name, method, mcp string) string {
		return fmt.Sprintf(`"w.%s": {"method": "%s", "host": "w.example", "path": "/mcp/{p}", %s"access": ["member"], "effect": "read", "upstream": "external"}`, name, method, mcp)
	}
	const open, shut = `"mcp": {"method": "tools/call", "name": "open"}, `, `"mcp": {"method": "tools/call", "name": "shut"}, `
	small := policytest.Small(t)
	loose := small.With("schemas/routes/schema.json", `{"type": "object"}`)
	rows := func(tree policytest.Tree, rows ...string) policytest.Tree {
		return tree.With("routes/data.json", strings.TrimSuffix(strings.TrimSpace(policytest.SmallRoutes), "}")+",\n"+strings.Join(rows, ",\n")+"}")
	}
	e, err := load(t, rows(small, row("a", "POST", open), row("b", "POST", shut), row("c", "POST", `"mcp": {"method": "tools/list"}, `), row("d", "*", "")))
	if err != nil {
		t.Fatal(err)
	}
	if r := e.Routes()[2]; r.MCP != (resources.RouteMCP{Method: "tools/call", Name: "shut"}) {
		t.Errorf("%+v", r)
	}
	for want, list := range map[string][]string{
		"w.b: POST w.example/mcp/{p} is already the place of w.a":                                       {row("a", "POST", open), row("b", "POST", open)},
		"w.b: w.a has this path, too, and one of the two has no mcp: give both of them mcp, or none":    {row("a", "POST", open), row("b", "POST", "")},
		"w.c: w.b has this path, too, and one of the two has no mcp":                                    {row("a", "POST", open), row("b", "POST", shut), row("c", "POST", "")},
		"w.a: mcp is for rows with the method POST and the upstream external":                           {row("a", "*", open)},
		"w.a: mcp name must be there for tools/call, prompts/get, resources/read, and for no other met": {row("a", "POST", `"mcp": {"method": "tools/call"}, `)},
		"w.a: mcp name must be 1 to 1000 visible ASCII characters that do not begin with =?":            {row("a", "POST", `"mcp": {"method": "tools/call", "name": "=?base64?eA==?="}, `)},
	} {
		if _, err := load(t, rows(small, list...)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	for _, mcp := range []string{`{}`, `null`, `""`, `{"method": ""}`, `{"method": "tools/call", "name": "open", "host": "x"}`, `{"name": "open"}`, `[]`} {
		bad := row("a", "POST", `"mcp": `+mcp+", ")
		if _, err := load(t, rows(small, bad)); err == nil {
			t.Errorf("mcp %s was taken", mcp)
		}
		if _, err := load(t, rows(loose, bad)); err == nil {
			t.Errorf("mcp %s was taken under a loose schema", mcp)
		}
	}
}
