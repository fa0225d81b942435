package proof_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/bundles"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

const definition = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// github is a server with rows of each kind, one a line.
const github = `{"upstream": "github", "title": "Issues",
 "tools": {
  "search_issues": {"action": "project:github_issue:read", "effect": "read", "definition": "` + definition + `"},
  "merge.pull": {"action": "project:github_pull:merge", "effect": "write", "definition": "` + definition + `", "approval": "each_call"}},
 "resources": [{"uri": "repo://{owner}/{name}/{path+}", "action": "project:github_file:read"}, {"uri": "repo://me/{name}", "action": "account:github_own:read"}],
 "prompts": {
  "triage": {"action": "project:github_issue:read", "effect": "read"}}
}`

const arguments = `{"search_issues": {"type": "object", "properties": {"q": {"type": "string"}}},
 "merge.pull": {"type": "object"}}`

// serving returns the small tree with the rows of a server.
func serving(t *testing.T, name, rows string) policytest.Tree {
	schema := policytest.Copy(t, policies.Tree())["schemas/mcp/schema.json"]
	return policytest.Small(t).With("schemas/mcp/schema.json", string(schema.Data)).With("mcp/"+name+"/data.json", rows)
}

// TestTheTreeHasMCPServers guarantees that a set has the MCP servers of its tree, with the defaults of what their rows
// leave out, and lists the actions of the rows.
func TestTheTreeHasMCPServers(t *testing.T) {
	tree := serving(t, "github", github).With("mcp/github/schema/data.json", arguments).
		With("mcp/desk/data.json", `{"upstream": "d", "agents": "none", "consent": "not_required", "pin": "names", "denial": "result",
		"credential": "none", "server_requests": ["elicitation"], "tools": {"open": {"action": "account:desk:open", "effect": "read"}}}`)
	e := must.Get(load(t, tree))(t)
	if got := e.MCPServers(); !slices.Equal(got, []string{"desk", "github"}) || e.MCPServer("GitHub") != nil || e.MCPServer("") != nil {
		t.Errorf("servers %q", got)
	}
	s := e.MCPServer("github")
	if s.Name != "github" || s.Upstream != "github" || s.Agents != "registered" || s.Consent != "required" || s.Pin != "definitions" || s.Denial != "error" ||
		s.Credential != "assertion" || s.Autonomous || s.ServerRequests != nil || len(s.Resources) != 2 || s.Prompts["triage"].Effect != "read" {
		t.Errorf("%+v", s)
	}
	if tool := s.Tools["merge.pull"]; tool.Approval != "each_call" || tool.Definition != definition || string(tool.InputSchema) != `{"type": "object"}` {
		t.Errorf("%+v", tool)
	}
	if d := e.MCPServer("desk"); d.Agents != "none" || d.Consent != "not_required" || d.Pin != "names" || d.Denial != "result" || d.Credential != "none" ||
		d.Tools["open"].InputSchema != nil || len(d.ServerRequests) != 1 {
		t.Errorf("%+v", d)
	}
	var ids []string
	for _, a := range e.Actions() {
		ids = append(ids, a.ID)
	}
	want := []string{
		"account:authorization:check", "account:desk:open", "account:github_own:read", "project:github_file:read", "project:github_issue:read",
		"project:github_pull:merge",
	}
	if !slices.Equal(ids, want) {
		t.Errorf("actions %q", ids)
	}
	src, _ := policies.Read(tree)
	other, _ := policies.Read(tree.With("mcp/github/schema/data.json", `{}`))
	if src.Revision == other.Revision {
		t.Error("the revision leaves out a tool's schema")
	}
}

// TestABundleHasTheServersOfItsFolder guarantees that a bundle keeps the MCP servers of its folder, the schemas of their
// tools, and the rules over arguments with their data.
func TestABundleHasTheServersOfItsFolder(t *testing.T) {
	const ruleFile, rules = "tools/github/rules.rego", "package tools.github\n\n# METADATA\n# schemas:\n#   - input.arguments: schema.tools.github.search_issues\n" +
		"deny contains \"no\" if input.arguments.q == \"x\"\n"
	for name, tree := range map[string]policytest.Tree{
		"a whole tree": serving(t, "github", github).With("mcp/github/schema/data.json", arguments).With("mcp/desk/data.json", `{"upstream": "d"}`).
			With(ruleFile, rules).With("tools/github/data.json", `{"most": 5}`),
		"an overlay": policytest.Tree{}.With("policy.json", `{"base": "embedded"}`).With("mcp/github/data.json", github).
			With("mcp/github/schema/data.json", arguments).With("mcp/desk/data.json", `{"upstream": "d"}`).With(ruleFile, rules),
	} {
		t.Run(name, func(t *testing.T) {
			src := must.Get(policies.Read(tree))(t)
			raw := must.Get(bundles.Build(src, "r1", nil))(t)
			opened := must.Get(bundles.Open(raw, nil))(t)
			set, _ := must.Two(proof.Compile(context.Background(), opened))(t)
			if s := set.MCPServer("github"); !slices.Contains(set.MCPServers(), "desk") || len(s.Tools["search_issues"].InputSchema) == 0 || len(s.Resources) != 2 {
				t.Errorf("%q: %+v", set.MCPServers(), s)
			}
			if len(set.Compiled().Compiler.GetRulesExact(ast.MustParseRef("data.tools.github.deny"))) != 1 {
				t.Error("the bundle lacks the rules")
			}
		})
	}
}

// TestABadServerIsRefused guarantees that Load reports all faults of a server at once, one a line, with its place.
func TestABadServerIsRefused(t *testing.T) {
	all := func(old, text string) policytest.Tree {
		return serving(t, "github", strings.Replace(github, old, text, 1))
	}
	many := serving(t, "github", strings.NewReplacer("github_pull:merge", "github_pull:Merge", `"read"}}`, `"none"}}`, "repo://me", "Repo://me").Replace(github))
	cases := map[string]policytest.Tree{
		`mcp/github/data.json:1: github: Additional property colour is not allowed`:                            all(`"title"`, `"colour": 1, "title"`),
		`mcp/github/data.json:3: tools.search_issues: Additional property Effect is not allowed`:               all(`"effect"`, `"Effect": "read", "effect"`),
		`mcp/github/data.json:4: tools.merge.pull: Additional property acton is not allowed`:                   all(`"approval"`, `"acton": "", "approval"`),
		`mcp/github/data.json:7: prompts.triage: Additional property definition is not allowed`:                all(`"effect": "read"}}`, `"effect": "read", "definition": ""}}`),
		`mcp/github/data.json:1: github: upstream is required`:                                                 all(`"upstream": "github", `, ""),
		`mcp/github/data.json:3: tools.search_issues: effect is required`:                                      all(`"effect": "read", `, ""),
		`mcp/github/data.json:3: tools.search_issues.definition: Does not match pattern`:                       all("sha256:0", "sha256:G"),
		`mcp/github/data.json:3: tools.search_issues: has no definition: `:                                     all(`, "definition": "`+definition+`"`, ""),
		`mcp/github/data.json:2: tools is given twice, first in line 1`:                                        all(`"title"`, `"tools": {}, "title"`),
		`mcp/Git/data.json: the name of an MCP server, "Git", must match`:                                      loosely(t, serving(t, "Git", github)),
		`mcp/accounts/data.json: the name of an MCP server, "accounts", must match ^[a-z][a-z0-9_-]{0,63}$, a`: serving(t, "accounts", github),
		`mcp/projects/data.json: the name of an MCP server, "projects", must`:                                  serving(t, "projects", github),
		`tools.projects: the name "projects" must be 1 to 128 characters`:                                      all("search_issues", "projects"),
		`tools.Accounts: the name "Accounts" must be`:                                                          all("search_issues", "Accounts"),
		`tools.search_issues.definition: pin is names, and then the gateway`:                                   all(`"title"`, `"pin": "names", "title"`),
		`prompts...: the name ".." must be`:                                                                    all("triage", ".."),
		`autonomous: lets agents call without a user, and agents is none`:                                      all(`"title"`, `"autonomous": true, "agents": "none", "title"`),
		`resources: "repo://{a}/{b}/{c+}" is already the template of "repo://{owner}/{name}/{path+}"`:          all("repo://me/{name}", "repo://{a}/{b}/{c+}"),
		`resources: uri "repo://{owner+}/x" must be a URI`:                                                     all("repo://me/{name}", "repo://{owner+}/x"),
		`mcp/data.json: isn't read: the rows of an MCP server are in mcp/<server>/data.json`:                   policytest.Small(t).With("mcp/data.json", `{"x": {}}`),
		`mcp/github/more/data.json: isn't read: the rows`:                                                      all("", "").With("mcp/github/more/data.json", `{}`),
		`mcp/github/schema/a/data.json: isn't read: the rows`:                                                  all("", "").With("mcp/github/schema/a/data.json", `{}`),
		`mcp/other/schema/data.json: there is no mcp/other/data.json beside it`:                                all("", "").With("mcp/other/schema/data.json", `{}`),
		`mcp/github/schema/data.json:1: schema.x: tools has no row of this name`:                               all("", "").With("mcp/github/schema/data.json", `{"x": {}}`),
		`schema.search_issues: Invalid type. Expected: object, given: boolean`:                                 all("", "").With("mcp/github/schema/data.json", `{"search_issues": true}`),
		`schema.search_issues: its references go round in a circle`:                                            all("", "").With("mcp/github/schema/data.json", `{"search_issues": {"$ref": "#"}}`),
		`another data.json already has data of this name`:                                                      all(`"title"`, `"schema": {"search_issues": {}}, "title"`).With("mcp/github/schema/data.json", arguments),
		`schemas/mcp/schema.json: is missing`:                                                                  all("", "").Without("schemas/mcp/schema.json"),
		`tools.merge.pull.action: Does not match`:                                                              many, `prompts.triage.effect: `: many, `resources.1.uri: `: many,
	}
	for want, tree := range cases {
		t.Run(want, func(t *testing.T) {
			_, err := load(t, tree)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// loosely returns the tree with a schema of MCP servers that accepts any object.
func loosely(t *testing.T, tree policytest.Tree) policytest.Tree {
	t.Helper()
	return tree.With("schemas/mcp/schema.json", `{"type": "object"}`)
}

// TestALooseSchemaLetsNoBadServerIn guarantees that the program checks the rows of servers itself: an author can loosen
// the schema.
func TestALooseSchemaLetsNoBadServerIn(t *testing.T) {
	for want, change := range map[string][2]string{
		`unknown object member name "colour"`:                                         {`"title"`, `"colour": 1, "title"`},
		`unknown object member name "Agents"`:                                         {`"title"`, `"Agents": "none", "title"`},
		`upstream: must be the name of an --upstream`:                                 {`"upstream": "github"`, `"upstream": "a b"`},
		`agents: "all" is none of registered, any, none`:                              {`"title"`, `"agents": "all", "title"`},
		`consent: "no" is none of required, not_required`:                             {`"title"`, `"consent": "no", "title"`},
		`pin: "none" is none of definitions, names`:                                   {`"title"`, `"pin": "none", "title"`},
		`denial: "403" is none of error, result`:                                      {`"title"`, `"denial": "403", "title"`},
		`credential: "token" is none of assertion, exchange, secret, none`:            {`"title"`, `"credential": "token", "title"`},
		`server_requests: "tools" is none of elicitation, sampling, roots`:            {`"title"`, `"server_requests": ["tools"], "title"`},
		`tools.search_issues.effect: effect "" is neither read nor write`:             {`"effect": "read", `, ""},
		`tools.search_issues.definition: must be sha256:`:                             {"sha256:0", "sha256:"},
		`tools.merge.pull.approval: "once" is not each_call`:                          {"each_call", "once"},
		`tools.search_issues.action: action "project:*:read" must have`:               {"project:github_issue:read", "project:*:read"},
		`tools.search_issues.action: action resource:a:read must be of scope account`: {"project:github_issue:read", "resource:a:read"},
		`prompts.triage.action: action "x" must have`:                                 {`"triage": {"action": "project:github_issue:read"`, `"triage": {"action": "x"`},
		`resources.action: action "y" must have`:                                      {"account:github_own:read", "y"},
		`tools.a/b: the name "a/b" must be`:                                           {"search_issues", "a/b"},
		`tools.: the name "" must be`:                                                 {"search_issues", ""},
	} {
		t.Run(want, func(t *testing.T) {
			_, err := load(t, loosely(t, serving(t, "github", strings.Replace(github, change[0], change[1], 1))))
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v", err)
			}
		})
	}
	if _, err := load(t, loosely(t, serving(t, "github", github)).With("mcp/github/schema/data.json", `{"search_issues": [], "merge.pull": {"$id": "x"}}`)); err == nil ||
		!strings.Contains(err.Error(), "schema.search_issues: must be a JSON schema of an object") || !strings.Contains(err.Error(), "schema.merge.pull: has an $id") {
		t.Errorf("schemas: %v", err)
	}
}

// TestAnActionOfAToolNeedsARole guarantees that Load rejects a tool if no system role grants its action, as it rejects
// such a route.
func TestAnActionOfAToolNeedsARole(t *testing.T) {
	tree := serving(t, "github", github)
	tree = tree.With("grants/data.json", strings.Replace(policytest.SmallGrants, `"project:*:*": true`, `"project:github_issue:*": true`, 1))
	_, err := load(t, tree)
	for _, want := range []string{"tools.merge.pull.action: action project:github_pull:merge is granted by no system role", "resources.action: action project:github_file:read is granted"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
	if err != nil && strings.Contains(err.Error(), "github_issue:read is") {
		t.Error(err)
	}
}

// TestRulesMayNameTheActionsOfTools guarantees that Load accepts the action of a tool in a rule, and rejects a misspelt
// one.
func TestRulesMayNameTheActionsOfTools(t *testing.T) {
	rule := func(action string) policytest.Tree {
		return serving(t, "github", github).With("authz/more.rego", fmt.Sprintf("package authz\n\nx if input.action.id == %q", action))
	}
	if _, err := load(t, rule("project:github_pull:merge")); err != nil {
		t.Error(err)
	}
	if _, err := load(t, rule("project:github_pull:merg")); err == nil || !strings.Contains(err.Error(), "authz/more.rego:3: action project:github_pull:merg is unknown: no route or tool has it") {
		t.Error(err)
	}
}

// TestTheSchemaHasEveryMember guarantees that the schema accepts every optional word of a server, and every kind of
// server request.
func TestTheSchemaHasEveryMember(t *testing.T) {
	e, err := load(t, serving(t, "all", strings.Replace(github, `"title"`, `"agents": "any", "autonomous": true, "consent": "required", "pin": "definitions", "denial": "error",
		"server_requests": ["elicitation", "sampling", "roots"], "credential": "secret", "title"`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if s := e.MCPServer("all"); !slices.Equal(s.ServerRequests, resources.MCPServerRequests()) || !s.Autonomous || s.Agents != "any" {
		t.Errorf("%+v", s)
	}
}
