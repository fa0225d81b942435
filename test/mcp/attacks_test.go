package mcp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"github.com/portcullis-authz/portcullis/resources/definition"
	"github.com/portcullis-authz/portcullis/test/harness"
)

// recorder is a scripted server that records what reaches it.
type recorder struct {
	url string

	mu   sync.Mutex
	seen []string
}

func (r *recorder) requests() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.seen)
}

// newRecorder starts a server that answers each request with the same status, headers and body.
func newRecorder(t *testing.T, status int, body string, headers ...string) *recorder {
	t.Helper()
	r := &recorder{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		raw, _ := io.ReadAll(req.Body) // a broken request is recorded as it came
		r.mu.Lock()
		r.seen = append(r.seen, req.Method+" "+string(raw))
		r.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

const (
	legacyList  = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	legacyCall  = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_issues","arguments":{}}}`
	legacyStart = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	opened      = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`
)

// TestSessionsOfOthersAreUnknown guarantees 404 for a session's id with another user, agent or server, with every method. The
// server gets none of these requests.
func TestSessionsOfOthersAreUnknown(t *testing.T) {
	t.Parallel()
	const issuer, second, server = "https://login.example", "user-second-v1", "/mcp/issues"
	u := newRecorder(t, 200, opened, "Mcp-Session-Id", "upstream-session")
	policies := policiesWith(t, rows)
	if err := os.Mkdir(filepath.Join(policies, "mcp", "other"), 0o750); err != nil {
		t.Fatal(err)
	}
	harness.WriteFile(t, filepath.Join(policies, "mcp", "other", "data.json"), rows)
	provider := harness.NewIdentityProvider(t, issuer, "k1")
	dir := t.TempDir()
	harness.Seed(t, dir, account, project, harness.Member{ID: admin, Roles: []string{"account_admin"}}, harness.Member{ID: second, Roles: []string{"account_admin"}})
	g := harness.StartIn(t, dir, "--jwt-issuer", issuer, "--jwt-audience", provider.Audience, "--jwks-file", harness.TempFile(t, "jwks.json", provider.Jwks()),
		"--public-url", publicURL, "--policy-dir", policies, "--upstream", "github="+u.url)
	token := func(user, client, path string) string {
		return provider.Token(t, user, func(c jwt.MapClaims) {
			c["aud"], c["scope"] = publicURL+path, bothScopes
			if client != "" {
				c["client_id"] = client
			}
		})
	}
	owner := token(admin, "agent-a", server)
	resp, text := raw(t, g, server, owner, legacyStart)
	id := resp.Header.Get("Mcp-Session-Id")
	if resp.StatusCode != 200 || id == "" || strings.Contains(id, "upstream-session") {
		t.Fatalf("%d %q %s", resp.StatusCode, id, text)
	}
	before := u.requests()
	for name, c := range map[string]struct{ path, token, id string }{
		"another user":          {server, token(second, "agent-a", server), id},
		"another agent":         {server, token(admin, "agent-b", server), id},
		"without the agent":     {server, token(admin, "", server), id},
		"another server":        {"/mcp/other", token(admin, "agent-a", "/mcp/other"), id},
		"the server's id":       {server, owner, "upstream-session"},
		"another last letter":   {server, owner, harness.OtherEnding(id)},
		"an id of another door": {server, owner, "agent-" + id},
	} {
		for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
			body := ""
			if method == http.MethodPost {
				body = legacyList
			}
			if status := send(t, method, g.URL+c.path, c.token, body, c.id); status != 404 {
				t.Errorf("%s, %s: %d", name, method, status)
			}
		}
	}
	if after := u.requests(); len(after) != len(before) {
		t.Errorf("the server got %v", after[len(before):])
	}
	if status := send(t, http.MethodPost, g.URL+server, owner, legacyStart, id); status != 200 {
		t.Errorf("the owner: %d", status)
	}
}

// send returns the status of a legacy request in a session.
func send(t *testing.T, method, url, token, body, session string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": "Bearer " + token,
		"Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-11-25",
	} {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// TestShadowedNamesReachNoServer guarantees the denial of names that look like a listed one, and of names of another server.
func TestShadowedNamesReachNoServer(t *testing.T) {
	t.Parallel()
	u := newRecorder(t, 200, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
	g := startOn(t, u.url, policiesWith(t, rows))
	token := tokenFor(t, g, admin, bothScopes)
	for _, name := range []string{
		"Search_Issues", "search_issues ", " search_issues", "search\u200b_issues", "s\u0435arch_issues", "search_issues\u0000", "issues/search_issues", "issues__search_issues",
		"search_issues/../merge_pull_request", "search%5Fissues", "triage", "*", "",
	} {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%s,"arguments":{}}}`, quoted(name))
		resp, text := raw(t, g, path, token, body, "MCP-Protocol-Version", "2025-11-25")
		if denied := resp.StatusCode == 200 && strings.Contains(text, `"code":-32001`); !denied && resp.StatusCode != 400 {
			t.Errorf("%q: %d %s", name, resp.StatusCode, text)
		}
	}
	for name, body := range map[string]string{
		"a task":          `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"786512e2-9e0d-44bd-8f29-789f320fe840"}}`,
		"its result":      `{"jsonrpc":"2.0","id":1,"method":"tasks/result","params":{"taskId":"1"}}`,
		"its end":         `{"jsonrpc":"2.0","id":1,"method":"tasks/cancel","params":{"taskId":"1"}}`,
		"all tasks":       `{"jsonrpc":"2.0","id":1,"method":"tasks/list"}`,
		"a prompt as one": `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"triage","task":{"ttl":1000}}}`,
		"a hidden prompt": `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"hidden"}}`,
		"a file":          `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}`,
		"a path upwards":  `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"repo://acme/../../secrets"}}`,
	} {
		if resp, text := raw(t, g, path, token, body, "MCP-Protocol-Version", "2025-11-25"); !strings.Contains(text, `"error"`) {
			t.Errorf("%s: %d %s", name, resp.StatusCode, text)
		}
	}
	if seen := u.requests(); len(seen) > 0 {
		t.Errorf("the server got %q", seen)
	}
}

// quoted is a JSON string in ASCII.
func quoted(s string) string {
	out := []byte{'"'}
	for _, c := range s {
		if c < ' ' || c > '~' {
			out = fmt.Appendf(out, `\u%04x`, c)
		} else {
			out = append(out, string(c)...)
		}
	}
	return string(append(out, '"'))
}

// TestRenamedToolsAreDenied guarantees that a tool under the name of another one is neither listed nor called.
func TestRenamedToolsAreDenied(t *testing.T) {
	t.Parallel()
	tool := func(name, does string) string {
		return fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":{"type":"object"}}`, name, does)
	}
	list := func(tools ...string) string {
		return `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","ttlMs":60000,"cacheScope":"public","tools":[` + strings.Join(tools, ",") + `]}}`
	}
	pinned := strings.Replace(rows, `"pin": "names", `, "", 1)
	for name, does := range map[string]string{"search_issues": "searches", "merge_pull_request": "merges"} {
		is, err := definition.Of([]byte(tool(name, does)))
		if err != nil {
			t.Fatal(err)
		}
		pinned = strings.Replace(pinned, `"`+name+`": {`, `"`+name+`": {"definition": "`+is+`", `, 1)
	}
	renamed := newRecorder(t, 200, list(tool("search_issues", "merges"), tool("merge_pull_request", "searches")))
	g := startOn(t, renamed.url, policiesWith(t, pinned))
	token := tokenFor(t, g, admin, bothScopes)
	resp, text := raw(t, g, path, token, request("tools/list", ""), modern("tools/list", "")...)
	if resp.StatusCode != 200 || strings.Contains(text, "search_issues") || strings.Contains(text, "merge_pull_request") {
		t.Errorf("the list: %d %s", resp.StatusCode, text)
	}
	if !strings.Contains(text, `"cacheScope":"private"`) || !strings.Contains(text, `"ttlMs":0`) || resp.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("a shared cache may keep the list: %v %s", resp.Header, text)
	}
	for _, name := range []string{"search_issues", "merge_pull_request"} {
		harness.Soon(t, "the server's tools are known", func() bool {
			_, text = raw(t, g, path, token, call(name), modern("tools/call", name)...)
			return strings.Contains(text, `"code":"definition_changed"`)
		})
	}
	for _, seen := range renamed.requests() {
		if strings.Contains(seen, "tools/call") {
			t.Errorf("the server got %s", seen)
		}
	}
}

// TestForeignURLsAreNotPassedOn guarantees the gateway's own URL in metadata and challenges for any Host. A challenge of the
// server does not reach the client.
func TestForeignURLsAreNotPassedOn(t *testing.T) {
	t.Parallel()
	u := newRecorder(t, 401, `{}`, "WWW-Authenticate", `Bearer resource_metadata="https://evil.example/metadata"`, "Location", "https://evil.example/", "Link", "<https://evil.example/>")
	g := startOn(t, u.url, policiesWith(t, rows))
	token := tokenFor(t, g, admin, bothScopes)
	for name, c := range map[string]struct{ method, path, token, says string }{
		"metadata":             {http.MethodGet, "/.well-known/oauth-protected-resource" + path, "", publicURL},
		"challenge":            {http.MethodPost, path, "", publicURL},
		"the server's refusal": {http.MethodPost, path, token, ""},
	} {
		req, err := http.NewRequestWithContext(context.Background(), c.method, g.URL+c.path, strings.NewReader(map[string]string{http.MethodPost: call("search_issues")}[c.method]))
		if err != nil {
			t.Fatal(err)
		}
		req.Host = "evil.example"
		h := append(modern("tools/call", "search_issues"), "Content-Type", "application/json", "X-Forwarded-Host", "evil.example", "Forwarded", "host=evil.example")
		if c.token != "" {
			h = append(h, "Authorization", "Bearer "+c.token)
		}
		for i := 0; i < len(h); i += 2 {
			req.Header.Set(h[i], h[i+1])
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		all := fmt.Sprint(resp.Header) + string(body)
		if err != nil || strings.Contains(all, "evil.example") || !strings.Contains(all, c.says) {
			t.Errorf("%s: %d %s %v", name, resp.StatusCode, all, err)
		}
		if c.token != "" && (resp.StatusCode != 200 || !strings.Contains(all, "-32603")) {
			t.Errorf("%s: %d %s", name, resp.StatusCode, all)
		}
	}
}
