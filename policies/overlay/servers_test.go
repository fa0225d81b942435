package overlay_test

import (
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/overlay"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/test/must"
)

const (
	serverFile = "mcp/desk/data.json"
	openTool   = `{"upstream": "desk", "pin": "names", "tools": {"open": {"action": "project:desk:open", "effect": "read"}}}`
)

// TestAnOverlayHasMCPServersOfItsOwn beside those of its base.
func TestAnOverlayHasMCPServersOfItsOwn(t *testing.T) {
	set, _ := proved(t, merged(t, base(t).With("mcp/portcullis/data.json", openTool), over(serverFile, openTool, "mcp/desk/schema/data.json", `{"open": {"type": "object"}}`)))
	if got := strings.Join(set.MCPServers(), " "); got != "desk portcullis" || len(set.MCPServer("desk").Tools["open"].InputSchema) == 0 {
		t.Errorf("servers %q, %+v", got, set.MCPServer("desk"))
	}
}

// TestAnOverlayHasRulesOverArguments for its own servers and for those of its base, with the schemas of tools.
func TestAnOverlayHasRulesOverArguments(t *testing.T) {
	const schemas, rules = `{"open": {"type": "object", "properties": {"q": {"type": "string"}}}}`,
		"package tools.desk\n\n# METADATA\n# schemas:\n#   - input.arguments: schema.tools.desk.open\ndeny contains \"no\" if input.arguments.q == \"x\"\n"
	beside := over(serverFile, openTool, "mcp/desk/schema/data.json", schemas, "tools/desk/rules.rego", rules)
	above := over("tools/desk/rules.rego", rules)
	for name, src := range map[string]*policies.Source{
		"own": merged(t, base(t), beside), "the base's": merged(t, base(t).With(serverFile, openTool).With("mcp/desk/schema/data.json", schemas), above),
	} {
		set, _ := proved(t, src)
		if set.Compiled().Compiler.GetRules(ast.MustParseRef("data.tools.desk.deny")) == nil {
			t.Errorf("%s: there are no rules", name)
		}
	}
}

// TestAnOverlayChangesNoServerOfItsBase without saying so in its manifest, and leaves the base the names that it can take.
func TestAnOverlayChangesNoServerOfItsBase(t *testing.T) {
	based := base(t).With(serverFile, openTool)
	for want, folder := range map[string]policytest.Tree{
		"mcp/desk/data.json: desk is an MCP server of the base":        over(serverFile, `{"agents": "any"}`),
		"mcp/desk/schema/data.json: desk is an MCP server of the base": over("mcp/desk/schema/data.json", `{}`),
		"does not begin with portcullis":                               over("mcp/portcullis-2/data.json", openTool),
		"must be mcp/<server>/data.json or":                            over("mcp/own/schema/open.json", `{}`),
		"mcp/data.json: must be mcp/<server>/data.json":                over("mcp/data.json", `{}`),
	} {
		if _, err := overlay.Merge(read(t, based), read(t, folder)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}

// TestAnOverlayReplacesAServerAsAWhole, with a warning once the base's has changed.
func TestAnOverlayReplacesAServerAsAWhole(t *testing.T) {
	based := base(t).With(serverFile, openTool)
	folder := over()
	files := must.Get(overlay.Replace(read(t, based), read(t, folder), serverFile))(t)
	if string(files[serverFile]) != openTool {
		t.Errorf("%s", files)
	}
	folder = folder.With("policy.json", string(files["policy.json"])).With(serverFile, strings.Replace(openTool, `"names"`, `"names", "agents": "any"`, 1)).
		With("mcp/desk/schema/data.json", `{"open": {"type": "object"}}`)
	src := merged(t, based, folder)
	if set, _ := proved(t, src); set.MCPServer("desk").Agents != "any" || len(src.Warnings) != 0 {
		t.Errorf("%+v, warnings %q", set.MCPServer("desk"), src.Warnings)
	}
	if src := merged(t, base(t).With(serverFile, openTool+"\n"), folder); len(src.Warnings) != 1 {
		t.Errorf("warnings %q", src.Warnings)
	}
}
