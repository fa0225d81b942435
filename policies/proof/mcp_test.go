package proof_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/resources"
)

// reviewed is a definition of the right form.
var reviewed = "sha256:" + strings.Repeat("0f", 32)

// goodServer has all that a server can have; %s are its own words.
var goodServer = `{
"upstream": "github", "title": "Issues", "agents": "any", "consent": "not_required", "denial": "result", "credential": "none", "autonomous": true,
"server_requests": ["elicitation"],
"tools": {
  "search_issues": {"action": "project:security_group:read", "effect": "read", "definition": "` + reviewed + `"},
  "merge": {"action": "project:security_group:create", "effect": "write", "definition": "` + reviewed + `", "approval": "each_call"}},
"resources": [{"uri": "repo://{owner}/{name}/{path+}", "action": "project:security_group:read"}, {"uri": "file:///etc/{name}", "action": "project:security_group:read"}],
"prompts": {"triage": {"action": "project:security_group:read", "effect": "read"}}
}`

// withServers is a small tree that may have servers.
func withServers(t *testing.T) policytest.Tree {
	t.Helper()
	schema, err := os.ReadFile("../schemas/mcp/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return policytest.Small(t).With("schemas/mcp/schema.json", string(schema))
}

// TestAnMCPServerIsRead guarantees every member, and that the tree lists the actions of what the server offers.
func TestAnMCPServerIsRead(t *testing.T) {
	e, err := load(t, withServers(t).With("mcp/issues/data.json", goodServer).With("mcp/bare/data.json", `{"upstream": "bare"}`))
	if err != nil {
		t.Fatal(err)
	}
	s := e.MCPServer("issues")
	want := &resources.MCPServer{
		Name: "issues", Upstream: "github", Title: "Issues", Agents: "any", Consent: "not_required", Pin: "definitions", Denial: "result", Credential: "none",
		Autonomous: true, ServerRequests: []string{"elicitation"},
		Tools: map[string]resources.MCPTool{
			"search_issues": {Action: "project:security_group:read", Effect: "read", Definition: reviewed},
			"merge":         {Action: "project:security_group:create", Effect: "write", Definition: reviewed, Approval: "each_call"},
		},
		Resources: []resources.MCPResource{
			{URI: "repo://{owner}/{name}/{path+}", Action: "project:security_group:read"}, {URI: "file:///etc/{name}", Action: "project:security_group:read"},
		},
		Prompts: map[string]resources.MCPPrompt{"triage": {Action: "project:security_group:read", Effect: "read"}},
	}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("%+v", s)
	}
	bare := &resources.MCPServer{Name: "bare", Upstream: "bare", Agents: "registered", Consent: "required", Pin: "definitions", Denial: "error", Credential: "assertion"}
	if s := e.MCPServer("bare"); !reflect.DeepEqual(s, bare) {
		t.Errorf("the defaults: %+v", s)
	}
	if e.MCPServer("other") != nil {
		t.Error("there is no other server")
	}
}

// TestMCPServersAreRefused guarantees the place of every problem, also by a tree whose own schema is loose.
func TestMCPServersAreRefused(t *testing.T) {
	tight := withServers(t)
	loose := tight.With("schemas/mcp/schema.json", `{"type": "object"}`)
	for old, c := range map[string][]string{
		`"upstream": "github"`:                               {`"upstream": "a b"`, `"upstream": ""`},
		`"title": "Issues"`:                                  {`"title": 1`, `"unknown": 1`},
		`"agents": "any"`:                                    {`"agents": "all"`},
		`"consent": "not_required"`:                          {`"consent": "none"`},
		`"denial": "result"`:                                 {`"denial": "silence"`},
		`"credential": "none"`:                               {`"credential": "caller"`},
		`["elicitation"]`:                                    {`["tools"]`},
		`"search_issues"`:                                    {`"projects"`, `".."`, `"a/b"`, `""`, `"a%2fb"`},
		`:create", "effect": "write"`:                        {`:create", "effect": "admin"`, `:create"`, `:*", "effect": "write"`},
		`"definition": "` + reviewed:                         {`"definition": "sha256:00`, `"definition": "`, `"pin": "`},
		`"approval": "each_call"`:                            {`"approval": "once"`},
		`"repo://{owner}/{name}/{path+}"`:                    {`"repo"`, `"repo://{owner}x/y"`, `"repo://{path+}/y"`, `"repo://a//b"`, `"repo://a/b?c"`, `"file:///etc/{name}"`, `""`},
		`"triage": {"action": "project:security_group:read"`: {`"triage": {"action": "nothing"`, `"accounts": {"action": "project:security_group:read"`},
	} {
		for _, text := range c {
			bad := strings.Replace(goodServer, old, text, 1)
			if bad == goodServer {
				t.Fatalf("%s is not in the server", old)
			}
			for name, tree := range map[string]policytest.Tree{"its schema": tight, "a loose schema": loose} {
				if _, err := load(t, tree.With("mcp/issues/data.json", bad)); err == nil || !strings.Contains(err.Error(), "mcp/issues/data.json:") {
					t.Errorf("%s for %s, with %s: %v", text, old, name, err)
				}
			}
		}
	}
	if _, err := load(t, policytest.Small(t).With("mcp/issues/data.json", goodServer)); err == nil || !strings.Contains(err.Error(), "schemas/mcp/schema.json: is missing") {
		t.Errorf("without a schema: %v", err)
	}
	for _, file := range []string{"mcp/projects/data.json", "mcp/Issues/data.json", "mcp/data.json", "mcp/issues/schema/data.json", "mcp/accounts/data.json"} {
		if _, err := load(t, tight.With(file, goodServer)); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", file, err)
		}
	}
}
