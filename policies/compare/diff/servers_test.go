package diff_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/compare/diff"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/proof"
)

// tree compiles the small tree with these files of MCP servers.
func tree(t *testing.T, files ...string) *engine.Set {
	t.Helper()
	schema := policytest.Copy(t, policies.Tree())["schemas/mcp/schema.json"]
	small := policytest.Small(t).With("schemas/mcp/schema.json", string(schema.Data))
	for i := 0; i < len(files); i += 2 {
		small = small.With(files[i], files[i+1])
	}
	src, err := policies.Read(small)
	if err != nil {
		t.Fatal(err)
	}
	set, _, err := proof.Compile(context.Background(), src)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestADiffHasEachChangedRowOfAServer with both values, and no row if only the form differs.
func TestADiffHasEachChangedRowOfAServer(t *testing.T) {
	const rows = `{"upstream": "desk", "title": "Desk", "pin": "names", "tools": {"open": {"action": "project:desk:open", "effect": "read"}},
		"resources": [{"uri": "a:{b}", "action": "project:desk:read"}], "prompts": {"hi": {"action": "project:desk:read", "effect": "read"}}}`
	const place, schemas = "mcp/desk/data.json", "mcp/desk/schema/data.json"
	old := tree(t, place, rows, schemas, `{"open": {"type": "object", "required": ["a"]}}`)
	report := func(next *engine.Set) []string {
		r, err := diff.Compare(t.Context(), old, next, 1)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, f := range r.Routes {
			out = append(out, f.Route+" "+f.Field+" "+f.Old+" -> "+f.New)
		}
		if len(out) > 0 && (!r.Differs() || !strings.Contains(r.Text(), "mcp/desk")) {
			t.Errorf("%q is no difference: %s", out, r.Text())
		}
		return out
	}
	if got := report(tree(t, place, strings.ReplaceAll(rows, ", ", ",\n"), schemas, `{"open": {"required":["a"],"type":"object"}}`)); len(got) != 0 {
		t.Errorf("of the form alone: %q", got)
	}
	for want, change := range map[string][2]string{
		"mcp/desk upstream desk -> desk2":                                       {`"desk",`, `"desk2",`},
		"mcp/desk title Desk -> ":                                               {`"title": "Desk", `, ``},
		"mcp/desk agents registered -> any":                                     {`"pin"`, `"agents": "any", "pin"`},
		"mcp/desk autonomous  -> true":                                          {`"pin"`, `"autonomous": true, "pin"`},
		"mcp/desk consent required -> not_required":                             {`"pin"`, `"consent": "not_required", "pin"`},
		"mcp/desk denial error -> result":                                       {`"pin"`, `"denial": "result", "pin"`},
		"mcp/desk credential assertion -> none":                                 {`"pin"`, `"credential": "none", "pin"`},
		"mcp/desk server_requests  -> elicitation roots":                        {`"pin"`, `"server_requests": ["roots", "elicitation"], "pin"`},
		"mcp/desk/tools/open action project:desk:open -> project:desk:shut":     {"desk:open", "desk:shut"},
		"mcp/desk/tools/open effect read -> write":                              {`"effect": "read"}}`, `"effect": "write"}}`},
		"mcp/desk/tools/open approval  -> each_call":                            {`"effect": "read"}}`, `"effect": "read", "approval": "each_call"}}`},
		"mcp/desk/prompts/hi effect read -> write":                              {`"effect": "read"}}}`, `"effect": "write"}}}`},
		"mcp/desk/resources/a:{b} action project:desk:read -> project:desk:see": {`"a:{b}", "action": "project:desk:read"`, `"a:{b}", "action": "project:desk:see"`},
	} {
		if got := report(tree(t, place, strings.Replace(rows, change[0], change[1], 1), schemas, `{"open": {"type": "object", "required": ["a"]}}`)); len(got) != 1 || got[0] != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := report(tree(t, place, rows)); len(got) != 1 ||
		!strings.HasPrefix(got[0], "mcp/desk/tools/open schema sha256:") {
		t.Errorf("no schema: %q", got)
	}
	const pinned = `{"upstream": "desk", "title": "Desk", "tools": {"open": {"action": "project:desk:open", "effect": "read", "definition": "sha256:`
	next := pinned + strings.Repeat("0", 64) + `"}}}`
	if got := report(tree(t, place, next)); !slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, "mcp/desk/tools/open definition  -> sha256:00") }) ||
		!slices.Contains(got, "mcp/desk pin names -> definitions") {
		t.Errorf("a definition: %q", got)
	}
	if got := report(tree(t)); len(got) != 13 { // every value that is not empty
		t.Errorf("without the server: %d %q", len(got), got)
	}
}
