package mcp_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portcullis-authz/portcullis/test/harness"
)

const (
	demoPath    = "/mcp/projects/proj-demo-v1/tickets"
	demoAccount = "/api/v1/accounts/acct-demo-v1"
	demoAgent   = "agent-assistant-v1"
)

// demoToken returns a token for the demo's server, of a user through a client; "" is the user alone.
func demoToken(t *testing.T, g *harness.Gateway, user, client string) string {
	t.Helper()
	args := []string{"--user", user, "--scope", bothScopes, "--audience", g.URL + demoPath}
	if client != "" {
		args = append(args, "--agent", client)
	}
	return g.Token(t, args...)
}

// demoClient opens a session of the official client with the demo's server.
func demoClient(t *testing.T, g *harness.Gateway, token string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil)
	transport := &mcp.StreamableClientTransport{Endpoint: g.URL + demoPath, HTTPClient: &http.Client{Transport: bearer{token}}}
	session, err := client.Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// uses returns the text of a tool's result, or of the denial.
func uses(t *testing.T, s *mcp.ClientSession, tool string, arguments map[string]any) string {
	t.Helper()
	out, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return err.Error()
	}
	text, _ := out.Content[0].(*mcp.TextContent)
	return text.Text
}

func toolNames(t *testing.T, s *mcp.ClientSession) (names []string) {
	t.Helper()
	listed, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range listed.Tools {
		names = append(names, one.Name)
	}
	slices.Sort(names)
	return names
}

// approve approves the one call of the user that waits, with a token of the user alone.
func approve(t *testing.T, g *harness.Gateway, user string) {
	t.Helper()
	approvals, token := g.URL+demoAccount+"/users/"+user+"/approvals", g.UserToken(t, user)
	var page struct{ Approvals []struct{ ID string } }
	list := harness.Call(t, "GET", approvals+"?status=PENDING", token, "")
	if err := json.Unmarshal(list.Raw, &page); err != nil || len(page.Approvals) != 1 {
		t.Fatalf("%v: %d %s", err, list.Status, list.Raw)
	}
	if r := harness.Call(t, "PATCH", approvals+"/"+page.Approvals[0].ID, token, `{"status":"APPROVED"}`); r.Status != 200 {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
}

// TestTheDemoHasAnAgent guarantees what the demo's agent may do for Bob and for Alice, by the official client, and that
// the demo's roles, delegations, registration and approvals decide it. What the operator changes stays after a restart.
func TestTheDemoHasAnAgent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	g := harness.Launch(t, dir, "--demo")
	bob, alice := demoClient(t, g, demoToken(t, g, "user-bob-v1", "assistant")), demoClient(t, g, demoToken(t, g, "user-alice-v1", "assistant"))
	if names := toolNames(t, bob); !slices.Equal(names, []string{"search_tickets"}) {
		t.Errorf("Bob's agent lists %v", names)
	}
	if names := toolNames(t, alice); !slices.Equal(names, []string{"close_ticket", "search_tickets"}) {
		t.Errorf("Alice's agent lists %v", names)
	}
	arguments := map[string]any{"number": 1}
	if text := uses(t, bob, "close_ticket", arguments); !strings.Contains(text, `no role of yours lets you use the tool "close_ticket"`) {
		t.Errorf("Bob's agent closes: %s", text)
	}
	if text := uses(t, bob, "search_tickets", map[string]any{"text": "printer"}); text != "1 The printer on floor 2 prints blank pages (open)" {
		t.Errorf("Bob's agent searches: %s", text)
	}
	if text := uses(t, alice, "close_ticket", arguments); !strings.Contains(text, "needs an approval") {
		t.Errorf("Alice's agent closes without her approval: %s", text)
	}
	approve(t, g, "user-alice-v1")
	if text := uses(t, alice, "close_ticket", arguments); text != "ticket 1 is closed by user-alice-v1 through assistant" {
		t.Errorf("Alice's agent closes: %s", text)
	}
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_tickets","arguments":{}}}`
	denied := func(want, user, client string) {
		t.Helper()
		if _, text := raw(t, g, demoPath, demoToken(t, g, user, client), call); !strings.Contains(text, want) {
			t.Errorf("%s through %q: %s, want %s", user, client, text, want)
		}
	}
	denied(`"code":"no_role"`, "user-carol-v1", "assistant")
	denied(`"code":"needs_registered_agent"`, "user-bob-v1", "another")
	denied(`blank pages (closed by user-alice-v1`, "user-bob-v1", "")
	bobs := g.UserToken(t, "user-bob-v1")
	if r := harness.Call(t, "DELETE", g.URL+demoAccount+"/users/user-bob-v1/delegations/"+demoAgent, bobs, ""); r.Status != 200 {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
	denied(`"code":"needs_delegation"`, "user-bob-v1", "assistant")
	g.Terminate(t)
	if code := g.Ended(t); code != 0 {
		t.Fatalf("exit %d", code)
	}
	g = harness.Launch(t, dir, "--demo")
	denied(`"code":"needs_delegation"`, "user-bob-v1", "assistant")
	admin := g.UserToken(t, "user-alice-v1")
	if r := harness.Call(t, "DELETE", g.URL+demoAccount+"/agents/"+demoAgent, admin, ""); r.Status != 200 {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
	g.Terminate(t)
	g.Ended(t)
	g = harness.Launch(t, dir, "--demo") // the agent's role is still there, so that the demo makes nothing anew
	denied(`"code":"needs_registered_agent"`, "user-alice-v1", "assistant")
}

// configured is a server in a client's configuration. All clients know one of the two forms.
type configured struct {
	Type    string            `json:"type"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`

	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
}

// TestThePagesConfigurationsReachTheDemo guarantees that each client's configuration in docs/integrate/agents.md has the
// demo's URL, and sends the token as the gateway wants it.
func TestThePagesConfigurationsReachTheDemo(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "integrate", "agents.md"))
	if err != nil {
		t.Fatal(err)
	}
	g := harness.Launch(t, t.TempDir(), "--demo")
	token, forms := demoToken(t, g, "user-bob-v1", "assistant"), 0
	for _, block := range regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		var file struct {
			Servers    map[string]configured `json:"servers"`
			MCPServers map[string]configured `json:"mcpServers"`
		}
		if err := json.Unmarshal([]byte(block[1]), &file); err != nil {
			t.Fatalf("%v: %s", err, block[1])
		}
		for _, servers := range []map[string]configured{file.Servers, file.MCPServers} {
			for name, one := range servers {
				forms++
				checkConfigured(t, g, token, name, one)
			}
		}
	}
	if forms != 3 {
		t.Errorf("%d configurations", forms)
	}
}

// checkConfigured calls the server as the configuration says, with the token in place of its variable.
func checkConfigured(t *testing.T, g *harness.Gateway, token, name string, one configured) {
	t.Helper()
	url, header := one.URL, one.Headers["Authorization"]
	if one.Command != "" { // mcp-remote URL --header NAME:VALUE
		url = one.Args[2]
		header = strings.ReplaceAll(strings.TrimPrefix(one.Args[4], "Authorization:"), "${AUTHORIZATION}", one.Env["AUTHORIZATION"])
	} else if one.Type != "http" {
		t.Errorf("%s: the type is %q", name, one.Type)
	}
	header = strings.NewReplacer("${TOKEN}", token, "${input:token}", token, "…", token).Replace(header)
	got, is := strings.CutPrefix(header, "Bearer ")
	path, local := strings.CutPrefix(url, "http://127.0.0.1:8080")
	if !is || !local {
		t.Fatalf("%s: %s with %q", name, url, header)
	}
	if resp, text := raw(t, g, path, got, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`); !strings.Contains(text, "search_tickets") {
		t.Errorf("%s: %d %s", name, resp.StatusCode, text)
	}
}

// TestTheDemosServerIsTheDemosAlone guarantees that no server is there without --demo, beside an operator's own tree, or
// on a store with accounts of its own. Nobody reaches it past the gateway.
func TestTheDemosServerIsTheDemosAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	g := harness.Launch(t, dir, "--demo")
	upstream := regexp.MustCompile(`tickets=(http://127\.0\.0\.1:\d+/mcp)`).FindStringSubmatch(g.Stderr.String())
	if upstream == nil {
		t.Fatal("the settings in the log do not name the server")
	}
	if status := statusOf(t, upstream[1]); status != http.StatusUnauthorized {
		t.Errorf("past the gateway: %d", status)
	}
	for name, start := range map[string]func() *harness.Gateway{
		"no demo":      func() *harness.Gateway { return harness.Launch(t, t.TempDir()) },
		"a public URL": func() *harness.Gateway { return harness.Launch(t, t.TempDir(), "--public-url", publicURL) },
		"an own tree": func() *harness.Gateway {
			return harness.Launch(t, t.TempDir(), "--demo", "--policy-dir", harness.CopyPolicies(t))
		},
		"a store of others": func() *harness.Gateway { return harness.OutsideGateway(t, "--demo") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := start()
			resp, text := raw(t, g, demoPath, demoToken(t, g, harness.OutsideAdmin, "assistant"), `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
			if resp.StatusCode != http.StatusNotFound && name != "a public URL" || resp.StatusCode == http.StatusOK {
				t.Errorf("the door: %d %s", resp.StatusCode, text)
			}
			if strings.Contains(g.Stdout.String(), "tickets") || strings.Contains(g.Stderr.String(), "tickets=") && name != "a store of others" {
				t.Errorf("it says something of the server:\n%s", g.Stdout)
			}
			if _, err := os.Stat(filepath.Join(g.DataDir, "demo-agent.token")); err == nil {
				t.Error("it writes a token of the agent")
			}
		})
	}
}

func statusOf(t *testing.T, url string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}
