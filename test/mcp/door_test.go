package mcp_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const bothScopes = "mcp:read mcp:write"

// TestClientsListAndCall guarantees the lists of each user with the official client and server in both eras. Allowed calls
// reach the server, and denied ones do not.
func TestClientsListAndCall(t *testing.T) {
	t.Parallel()
	for name, stateless := range map[string]bool{"modern": true, "legacy": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUpstream(t, stateless)
			g := startGateway(t, u, rows)
			for user, tools := range map[string][]string{admin: {"merge_pull_request", "search_issues"}, reader: {"search_issues"}, stranger: {}} {
				session := connect(t, g, tokenFor(t, g, user, bothScopes))
				list, err := session.ListTools(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				got := []string{}
				for _, tool := range list.Tools {
					got = append(got, tool.Name)
				}
				if slices.Sort(got); !slices.Equal(got, tools) {
					t.Errorf("%s sees %v, want %v", user, got, tools)
				}
				for _, tool := range []string{"search_issues", "merge_pull_request", "drop_database", "no_such_tool"} {
					before := len(u.called())
					result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: map[string]any{"q": user}})
					allowed := slices.Contains(tools, tool)
					var denied *jsonrpc.Error
					switch {
					case allowed && (err != nil || result.IsError || len(u.called()) != before+1):
						t.Errorf("%s may call %s: %v", user, tool, err)
					case !allowed && (!errors.As(err, &denied) || denied.Code != -32001 || len(u.called()) != before):
						t.Errorf("%s may not call %s: %v, %v", user, tool, err, u.called())
					case !allowed && (!strings.Contains(string(denied.Data), `"code":"no_role"`) || strings.Contains(string(denied.Data), "github_pull")):
						t.Errorf("%s", denied.Data)
					}
				}
			}
			for _, h := range u.headers {
				if h.Get("Authorization") != "" || h.Get("Cookie") != "" || h.Get("X-Portcullis-Assertion") == "" && h.Get("Portcullis-Assertion") == "" && !hasAssertion(h) {
					t.Errorf("the server got %v", h)
					break
				}
			}
		})
	}
}

// hasAssertion reports whether a header has the gateway's word.
func hasAssertion(h http.Header) bool {
	for name := range h {
		if strings.Contains(name, "Assertion") {
			return true
		}
	}
	return false
}

// TestPromptsAndResources guarantees that they are judged as tools are.
func TestPromptsAndResources(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	g := startGateway(t, u, rows)
	for user, allowed := range map[string]bool{reader: true, stranger: false} {
		session := connect(t, g, tokenFor(t, g, user, bothScopes))
		_, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "triage"})
		if (err == nil) != allowed {
			t.Errorf("%s, prompt: %v", user, err)
		}
		_, err = session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "repo://acme/site/readme"})
		if (err == nil) != allowed {
			t.Errorf("%s, resource: %v", user, err)
		}
		list, err := session.ListResources(t.Context(), nil)
		if err != nil || (len(list.Resources) == 1) != allowed {
			t.Errorf("%s, resources: %v %v", user, list, err)
		}
	}
}
