package mcp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// era is a revision of the conformance tool with the number of its checks.
type era struct {
	revision  string
	stateless bool
	checks    int
	// changed are the checks that fail through the door on purpose, with the reason.
	changed map[string]string
}

var eras = map[string]era{
	"modern": {"2026-07-28", true, 153, map[string]string{
		"sep-2164-resource-not-found/sep-2164-error-code": unlisted,
		"sep-2164-resource-not-found/sep-2164-data-uri":   unlisted,
	}},
	"legacy": {"2025-11-25", false, 82, map[string]string{}},
}

// unlisted is the reason of checks that read a resource without a row.
const unlisted = "a resource without a row is denied as one without a role is (-32001), so that nobody learns which exist"

// TestConformance guarantees equal results of the official conformance tool with the door and without. The exceptions are a
// closed list.
func TestConformance(t *testing.T) {
	t.Parallel()
	for name, e := range eras {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := everythingServer(t, e.stateless)
			direct := conformance(t, e, server)
			if n := passes(direct); n != e.checks {
				t.Fatalf("%d checks pass without the door, want %d", n, e.checks)
			}
			door := conformance(t, e, behindDoor(t, server))
			names := maps.Clone(direct)
			maps.Copy(names, door)
			for check := range names {
				switch reason := e.changed[check]; {
				case direct[check] != door[check] && reason == "":
					t.Errorf("%s: %q without the door, %q through it", check, direct[check], door[check])
				case direct[check] == door[check] && reason != "":
					t.Errorf("%s: %q through the door, too; it is listed as changed: %s", check, door[check], reason)
				}
			}
			for check := range e.changed {
				if direct[check] != passed {
					t.Errorf("%s is listed as changed, and does not pass without the door", check)
				}
			}
			t.Logf("%d checks pass without the door, %d through it, %d are changed on purpose", passes(direct), passes(door), len(e.changed))
		})
	}
}

const passed = "SUCCESS"

func passes(checks map[string]string) (n int) {
	for _, status := range checks {
		if status == passed {
			n++
		}
	}
	return n
}

var resultFolder = regexp.MustCompile(`^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$`)

// conformance runs all scenarios of a revision. It returns the status of each check by scenario and id; a repeated id has
// a number.
func conformance(t *testing.T, e era, server string) map[string]string {
	t.Helper()
	results := t.TempDir()
	cmd := node(t.Context(), tools(t), "node_modules/@modelcontextprotocol/conformance/dist/index.js",
		"server", "--url", server, "--suite", "all", "--spec-version", e.revision, "--output-dir", results)
	out, _ := cmd.CombinedOutput() // it exits 1 if a check fails
	folders, err := os.ReadDir(results)
	if err != nil || len(folders) == 0 {
		t.Fatalf("%v: %s", err, out)
	}
	all := map[string]string{}
	for _, folder := range folders {
		scenario := resultFolder.FindStringSubmatch(folder.Name())
		raw, err := os.ReadFile(filepath.Join(results, folder.Name(), "checks.json"))
		if err != nil || scenario == nil {
			t.Fatalf("%s: %v", folder.Name(), err)
		}
		var checks []struct {
			ID, Status, ErrorMessage string
			Details                  json.RawMessage
		}
		if err := json.Unmarshal(raw, &checks); err != nil {
			t.Fatal(err)
		}
		for _, c := range checks {
			if c.Status == "INFO" || c.Status == "SKIPPED" { // these check nothing
				continue
			}
			name := scenario[1] + "/" + c.ID
			for n := 2; all[name] != ""; n++ {
				name = fmt.Sprintf("%s/%s#%d", scenario[1], c.ID, n)
			}
			if all[name] = c.Status; c.Status != passed {
				t.Logf("%s: %s %s %s %s", server, name, c.Status, c.ErrorMessage, c.Details)
			}
		}
	}
	return all
}

// behindDoor starts a gateway in front of the server, with every tool pinned by `portcullis mcp pin`. It returns the URL of
// a proxy that adds an admin's token, since the tool can't.
func behindDoor(t *testing.T, server string) string {
	t.Helper()
	policies := policiesWith(t, conformanceRows)
	var actions []string
	for _, tool := range listed(t, server) {
		actions = append(actions, tool+"=project:github_issue:read:read")
	}
	pin(t, policies, server, actions...)
	g := startOn(t, server, policies)
	return withToken(t, g, tokenFor(t, g, admin, bothScopes))
}

// conformanceRows is the catalogue of the SDK's server without its tools.
const conformanceRows = `{"upstream": "github", "agents": "any", "consent": "not_required", "server_requests": ["elicitation", "sampling", "roots"],
"tools": {},
"prompts": {
	"test_simple_prompt": {"action": "project:github_issue:read", "effect": "read"},
	"test_prompt_with_arguments": {"action": "project:github_issue:read", "effect": "read"},
	"test_prompt_with_embedded_resource": {"action": "project:github_issue:read", "effect": "read"},
	"test_prompt_with_image": {"action": "project:github_issue:read", "effect": "read"},
	"test_input_required_result_prompt": {"action": "project:github_issue:read", "effect": "read"}},
"resources": [
	{"uri": "test://static-text", "action": "project:github_file:read"},
	{"uri": "test://static-binary", "action": "project:github_file:read"},
	{"uri": "test://watched-resource", "action": "project:github_file:read"},
	{"uri": "test://template/{id}/data", "action": "project:github_file:read"}]}`

// pin writes the tools of a server with their actions into the tree.
func pin(t testing.TB, policies, server string, actions ...string) {
	t.Helper()
	args := []string{"mcp", "pin", "issues", policies, "--upstream", server}
	for _, one := range actions {
		args = append(args, "--action", one)
	}
	if o := harness.Command(t, nil, args...); o.Code != 0 {
		t.Fatalf("%d %s %s", o.Code, o.Stdout, o.Stderr)
	}
}

// listed returns the names of a server's tools.
func listed(t *testing.T, server string) []string {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: server}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	names := map[string]bool{}
	for tool, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names[tool.Name] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// withToken proxies the server's path as the public URL does. It adds a token.
func withToken(t *testing.T, g *harness.Gateway, token string) string {
	t.Helper()
	target, err := url.Parse(g.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	var origin string
	forward := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host, r.Out.URL.Path = target.Scheme, target.Host, target.Path
		r.Out.Header.Set("Authorization", "Bearer "+token)
		if r.In.Header.Get("Origin") == origin {
			r.Out.Header.Set("Origin", publicURL)
		}
	}, ErrorLog: log.New(io.Discard, "", 0)} // clients leave streams before their end
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// net/http closes a request's body with the first byte of the response, and the forwarded request with it.
		_ = http.NewResponseController(w).EnableFullDuplex() // fails for HTTP/2 alone
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		proxy.CloseClientConnections()
		proxy.Close()
	})
	origin = proxy.URL
	return origin
}
