package mcp_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portcullis-authz/portcullis/test/harness"
)

const (
	publicURL = "https://gateway.example"
	account   = "acct-mcp-v1"
	project   = "proj-mcp-v1"
	admin     = "user-admin-v1"
	reader    = "user-reader-v1"
	stranger  = "user-stranger-v1"
)

// upstream is a server of the official SDK that notes the calls of its tools, and the requests.
type upstream struct {
	url string

	mu      sync.Mutex
	calls   []string
	headers []http.Header
	server  *mcp.Server
}

func (u *upstream) called() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]string(nil), u.calls...)
}

// newUpstream starts a server with three tools; a stateless one speaks both eras.
func newUpstream(t *testing.T, stateless bool) *upstream {
	t.Helper()
	u := &upstream{server: mcp.NewServer(&mcp.Implementation{Name: "issues", Version: "1"}, nil)}
	for _, name := range []string{"search_issues", "merge_pull_request", "drop_database"} {
		u.addTool(name, "Does "+name)
	}
	u.server.AddPrompt(&mcp.Prompt{Name: "triage"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "sort them"}}}}, nil
	})
	u.server.AddResource(&mcp.Resource{URI: "repo://acme/site/readme", Name: "readme"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "repo://acme/site/readme", Text: "hello"}}}, nil
	})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return u.server }, &mcp.StreamableHTTPOptions{Stateless: stateless})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.mu.Lock()
		u.headers = append(u.headers, r.Header.Clone())
		u.mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	u.url = server.URL
	return u
}

// toolOf is a tool of the server.
func toolOf(name, description string) *mcp.Tool {
	return &mcp.Tool{Name: name, Description: description, InputSchema: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string"}}}`)}
}

// addTool adds a tool, or replaces it.
func (u *upstream) addTool(name, description string) {
	u.server.AddTool(toolOf(name, description),
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			u.mu.Lock()
			defer u.mu.Unlock()
			u.calls = append(u.calls, name+" "+string(r.Params.Arguments))
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done " + name}}}, nil
		})
}

// rows are what the policy says of the server.
const rows = `{"upstream": "github", "pin": "names", "agents": "any", "consent": "not_required",
"tools": {"search_issues": {"action": "project:github_issue:read", "effect": "read"}, "merge_pull_request": {"action": "project:github_pull:merge", "effect": "write"}},
"prompts": {"triage": {"action": "project:github_issue:read", "effect": "read"}},
"resources": [{"uri": "repo://{owner}/{name}/{path+}", "action": "project:github_file:read"}]}`

// policiesWith is the shipped tree with the server.
func policiesWith(t testing.TB, row string) string {
	t.Helper()
	policies := harness.CopyPolicies(t)
	folder := filepath.Join(policies, "mcp", "issues")
	if err := os.MkdirAll(folder, 0o750); err != nil {
		t.Fatal(err)
	}
	harness.WriteFile(t, filepath.Join(folder, "data.json"), row)
	return policies
}

// startGateway starts a gateway whose policy knows the server.
func startGateway(t *testing.T, u *upstream, row string, args ...string) *harness.Gateway {
	t.Helper()
	return startOn(t, u.url, policiesWith(t, row), args...)
}

// startOn starts a gateway on a policy tree, in front of a server.
func startOn(t testing.TB, server, policies string, args ...string) *harness.Gateway {
	t.Helper()
	dir := t.TempDir()
	harness.Seed(t, dir, account, project, append([]harness.Member{
		{ID: admin, Roles: []string{"account_admin"}}, {ID: reader, Roles: []string{"account_reader"}}, {ID: stranger},
	}, manyMembers...)...)
	return harness.StartIn(t, dir, append([]string{"--public-url", publicURL, "--policy-dir", policies, "--upstream", "github=" + server}, args...)...)
}

// path is the server's in the project.
const path = "/mcp/projects/" + project + "/issues"

// tokenFor returns a token for the server alone.
func tokenFor(t *testing.T, g *harness.Gateway, user, scopes string) string {
	t.Helper()
	args := []string{"--user", user, "--audience", publicURL + path}
	if scopes != "" {
		args = append(args, "--scope", scopes)
	}
	return g.Token(t, args...)
}

// bearer adds a token to each request.
type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	out := r.Clone(r.Context())
	out.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(out)
}

// connect opens a session of the official client.
func connect(t *testing.T, g *harness.Gateway, token string) *mcp.ClientSession {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: g.URL + path, HTTPClient: &http.Client{Transport: bearer{token}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// post sends a message as it is.
func post(ctx context.Context, g *harness.Gateway, path, token, body string, headers ...string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.URL+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return http.DefaultClient.Do(req)
}

// raw sends a message as it is, and reads the response.
func raw(t *testing.T, g *harness.Gateway, path, token, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	resp, err := post(t.Context(), g, path, token, body, headers...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}
