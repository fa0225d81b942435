package mcp_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/servers"
)

// seenByClient is what the program with the official TypeScript client prints.
type seenByClient struct {
	Connected stepOutcome
	Version   string
	Tools     struct {
		Result struct{ Tools []struct{ Name string } }
		Error  *clientError
	}
	Calls map[string]stepOutcome
	// Learned is from a 401.
	Learned struct {
		Result struct {
			Scope    string
			Metadata struct {
				Resource string
				Servers  []string `json:"authorization_servers"`
			}
			Allowed bool
		}
		Error *clientError
	}
}

type stepOutcome struct {
	Result struct{ Content []struct{ Text string } }
	Error  *clientError
}

// clientError is an error as an application gets it.
type clientError struct {
	Name, Message string
	Code          any
	Data          map[string]any
}

// typescriptClient connects, lists the tools and calls them, given with their arguments.
func typescriptClient(t *testing.T, url, token, mode string, calls ...[2]any) seenByClient {
	t.Helper()
	return typescriptClientWith(t, nil, url, token, mode, calls...)
}

// typescriptClientWith is typescriptClient with further variables of the environment.
func typescriptClientWith(t *testing.T, env []string, url, token, mode string, calls ...[2]any) (out seenByClient) {
	t.Helper()
	names, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	cmd := node(t.Context(), tools(t), "client.mjs", url, token, mode)
	cmd.Env = append(append(cmd.Environ(), "CALLS="+string(names), "PUBLIC="+publicURL), env...)
	var failure strings.Builder
	cmd.Stderr = &failure
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s%s", err, text, &failure)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return out
}

// query are the arguments of every call.
var query = map[string]any{"q": "x"}

// TestTypeScriptClient guarantees lists, calls and whole denials with the official TypeScript client in both eras.
func TestTypeScriptClient(t *testing.T) {
	t.Parallel()
	for mode, c := range map[string]struct {
		stateless bool
		version   string
	}{"default": {false, "2025-11-25"}, "auto": {true, "2026-07-28"}} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			u := newUpstream(t, c.stateless)
			g := startGateway(t, u, rows)
			out := typescriptClient(t, g.URL+path, tokenFor(t, g, reader, bothScopes), mode,
				[2]any{"search_issues", query}, [2]any{"merge_pull_request", query}, [2]any{"drop_database", query})
			if out.Connected.Error != nil || out.Version != c.version {
				t.Fatalf("%+v, version %q", out.Connected.Error, out.Version)
			}
			if tools := out.Tools.Result.Tools; len(tools) != 1 || tools[0].Name != "search_issues" {
				t.Errorf("tools: %+v", out.Tools)
			}
			if call := out.Calls["search_issues"]; call.Error != nil || len(call.Result.Content) != 1 || call.Result.Content[0].Text != "done search_issues" {
				t.Errorf("the allowed call: %+v", call)
			}
			for _, tool := range []string{"merge_pull_request", "drop_database"} {
				shownWhole(t, tool, out.Calls[tool].Error)
			}
			if calls := u.called(); !slices.Equal(calls, []string{`search_issues {"q":"x"}`}) {
				t.Errorf("the server was called: %v", calls)
			}
		})
	}
}

// TestTypeScriptClientLearnsFrom401 guarantees that the official client finds the authorization server and the scopes by a
// 401, in both modes.
func TestTypeScriptClientLearnsFrom401(t *testing.T) {
	t.Parallel()
	const issuer = "https://login.example"
	provider := harness.NewIdentityProvider(t, issuer, "k1")
	u := newUpstream(t, true)
	g := harness.OutsideGateway(t, "--jwt-issuer", issuer, "--jwt-audience", provider.Audience, "--jwks-file", harness.TempFile(t, "jwks.json", provider.Jwks()),
		"--public-url", publicURL, "--policy-dir", policiesWith(t, rows), "--upstream", "github="+u.url)
	for _, mode := range []string{"default", "auto"} {
		out := typescriptClient(t, g.URL+"/mcp/issues", "", mode)
		if e := out.Connected.Error; e == nil || e.Data["status"] != 401.0 {
			t.Errorf("%s: %+v", mode, e)
		}
		got := out.Learned.Result
		if got.Scope != bothScopes || !got.Allowed || got.Metadata.Resource != publicURL+"/mcp/issues" || !slices.Equal(got.Metadata.Servers, []string{issuer}) {
			t.Errorf("%s: %+v %+v", mode, got, out.Learned.Error)
		}
	}
}

// shownWhole expects the code and all data of a denial in the client's error.
func shownWhole(t *testing.T, tool string, e *clientError) {
	t.Helper()
	if e == nil || e.Code != -32001.0 || e.Data["code"] != "no_role" || !strings.Contains(e.Message, `no role of yours lets you use the tool "`+tool+`"`) {
		t.Errorf("%s: %+v", tool, e)
		return
	}
	for _, name := range []string{"reason", "decision_id", "policy_revision", "account_revision"} {
		if e.Data[name] == nil || e.Data[name] == "" {
			t.Errorf("%s: no %s in %v", tool, name, e.Data)
		}
	}
}

// TestReferenceServer guarantees lists, calls and denials at the npm reference server, which speaks the legacy era. A client
// that negotiates falls back to it.
func TestReferenceServer(t *testing.T) {
	t.Parallel()
	address := servers.Address(t)
	_, port, _ := strings.Cut(address, ":")
	cmd := node(t.Context(), tools(t), filepath.Join("node_modules", "@modelcontextprotocol", "server-everything", "dist", "index.js"), "streamableHttp")
	cmd.Env = append(cmd.Environ(), "PORT="+port)
	serve(t, cmd, address)
	policies := policiesWith(t, `{"upstream": "github", "agents": "any", "consent": "not_required", "tools": {}}`)
	server := "http://" + address + "/mcp"
	pin(t, policies, server, "echo=project:github_issue:read:read", "get-sum=project:github_pull:merge:write")
	g := startOn(t, server, policies)
	for _, mode := range []string{"default", "auto"} {
		for user, allowed := range map[string][]string{admin: {"echo", "get-sum"}, reader: {"echo"}, stranger: {}} {
			out := typescriptClient(t, g.URL+path, tokenFor(t, g, user, bothScopes), mode,
				[2]any{"echo", map[string]any{"message": "hello"}}, [2]any{"get-sum", map[string]any{"a": 2, "b": 3}}, [2]any{"get-env", map[string]any{}})
			if out.Connected.Error != nil || out.Version != "2025-11-25" {
				t.Fatalf("%+v, version %q", out.Connected.Error, out.Version)
			}
			names := []string{}
			for _, tool := range out.Tools.Result.Tools {
				names = append(names, tool.Name)
			}
			if slices.Sort(names); !slices.Equal(names, allowed) {
				t.Errorf("%s sees %v", user, names)
			}
			for tool, says := range map[string]string{"echo": "Echo: hello", "get-sum": "5", "get-env": ""} {
				call := out.Calls[tool]
				if !slices.Contains(allowed, tool) {
					shownWhole(t, tool, call.Error)
				} else if call.Error != nil || len(call.Result.Content) == 0 || !strings.Contains(call.Result.Content[0].Text, says) {
					t.Errorf("%s, %s: %+v", user, tool, call)
				}
			}
		}
	}
}
