package mcp_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources/definition"
	"github.com/portcullis-authz/portcullis/test/harness"
)

// policiesOfKinds is the shipped tree with a server for each kind of credential. The kind is the name of the server and of
// its upstream.
func policiesOfKinds(t *testing.T, kinds ...string) string {
	t.Helper()
	is, err := definition.Of([]byte(scriptedTool))
	if err != nil {
		t.Fatal(err)
	}
	policies := harness.CopyPolicies(t)
	for _, kind := range kinds {
		folder := filepath.Join(policies, "mcp", kind)
		if err := os.MkdirAll(folder, 0o750); err != nil {
			t.Fatal(err)
		}
		harness.WriteFile(t, filepath.Join(folder, "data.json"), fmt.Sprintf(`{"upstream": %q, "credential": %q, "agents": "any", "consent": "not_required",
"tools": {"search_issues": {"action": "project:github_issue:read", "effect": "read", "definition": %q}}}`, kind, kind, is))
	}
	return policies
}

// startKinds starts a gateway with a server for each kind, each behind a path of the scripted server.
func startKinds(t *testing.T, s *scripted, kinds []string, args ...string) *harness.Gateway {
	t.Helper()
	for _, kind := range kinds {
		args = append(args, "--upstream", kind+"="+s.url+"/"+kind)
	}
	dir := t.TempDir()
	harness.Seed(t, dir, account, project, harness.Member{ID: admin, Roles: []string{"account_admin"}}, harness.Member{ID: reader, Roles: []string{"account_reader"}})
	return harness.StartIn(t, dir, append([]string{"--public-url", publicURL, "--policy-dir", policiesOfKinds(t, kinds...), "--log-level", "debug"}, args...)...)
}

// pathOf is the path of the server of a kind.
func pathOf(kind string) string { return "/mcp/projects/" + project + "/" + kind }

// tokenOf returns a user's token for the server of a kind.
func tokenOf(t *testing.T, g *harness.Gateway, user, kind string) string {
	t.Helper()
	return g.Token(t, "--user", user, "--audience", publicURL+pathOf(kind), "--scope", bothScopes)
}

// waitForPins waits until the gateway has listed the server of a kind.
func waitForPins(t *testing.T, g *harness.Gateway, kind, token string) {
	t.Helper()
	harness.Soon(t, "the server of the kind "+kind+" is listed", func() bool {
		_, text := raw(t, g, pathOf(kind), token, call("search_issues"), modern("tools/call", "search_issues")...)
		return strings.Contains(text, "done")
	})
}

// useEverything sends each kind of message to a server: both eras, streams, the end of a session, redirects and refusals
// of the server.
func useEverything(t *testing.T, g *harness.Gateway, s *scripted, kind, elsewhere, token string) {
	t.Helper()
	path := pathOf(kind)
	for method, body := range map[string]string{"tools/list": request("tools/list", ""), "server/discover": request("server/discover", "")} {
		raw(t, g, path, token, body, modern(method, "")...)
	}
	for _, status := range []int{301, 302, 303, 307, 308, 401, 403, 407, 500} {
		s.answerCalls(status, elsewhere+"/"+kind)
		resp, text := raw(t, g, path, token, call("search_issues"), modern("tools/call", "search_issues")...)
		if resp.StatusCode != 200 || !strings.Contains(text, "-32603") || resp.Header.Get("Location") != "" {
			t.Errorf("%s, the server answers %d: %d %v %s", kind, status, resp.StatusCode, resp.Header, text)
		}
	}
	s.answerCalls(0, "")
	resp, text := raw(t, g, path, token, legacyStart)
	session := resp.Header.Get("Mcp-Session-Id")
	if resp.StatusCode != 200 || session == "" {
		t.Fatalf("%s: %d %s", kind, resp.StatusCode, text)
	}
	for _, c := range []struct{ method, body string }{
		{http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/initialized"}`},
		{http.MethodPost, legacyList},
		{http.MethodPost, legacyCall},
		{http.MethodGet, ""},
		{http.MethodDelete, ""},
	} {
		if r := harness.Call(t, c.method, g.URL+path, token, c.body, "Mcp-Session-Id", session, "MCP-Protocol-Version", "2025-11-25", "Accept", "application/json, text/event-stream", "Cookie", "a="+token); r.Status/100 != 2 {
			t.Errorf("%s, %s %s: %d %s", kind, c.method, c.body, r.Status, r.Raw)
		}
	}
}

// TestNoServerGetsTheCallersToken guarantees for each kind of credential that a server gets this credential and nothing of
// the caller's, with every method, in the gateway's own listings and rejections, and after redirects and refusals. No
// record, log or answer has the secret.
func TestNoServerGetsTheCallersToken(t *testing.T) {
	t.Parallel()
	s, elsewhere, e, secret := newScripted(t), newScripted(t), newEndpoint(t), rand.Text()
	kinds := []string{"assertion", "none", "secret", "exchange"}
	g := startKinds(t, s, kinds, e.args("--upstream-secret-file", "secret="+harness.TempFile(t, "secret", secret+"\n"))...)
	for _, kind := range kinds {
		token := tokenOf(t, g, admin, kind)
		waitForPins(t, g, kind, token)
		useEverything(t, g, s, kind, elsewhere.url, token)
		harness.Soon(t, "the server's own requests are rejected", func() bool {
			rejected := 0
			for _, one := range s.requests("/" + kind) {
				if strings.Contains(one.body, "-32601") {
					rejected++
				}
			}
			return rejected == 2 // in the stream of the call and in that of GET
		})
		listed := 0
		for _, one := range s.requests("/" + kind) {
			isListing := strings.Contains(one.body, `"name":"portcullis"`)
			if isListing {
				listed++
			}
			got := one.header.Get("Authorization")
			ok := got == map[string]string{"secret": "Bearer " + secret}[kind]
			if kind == "exchange" {
				ok = isOneOf(got, map[bool]string{true: "own-", false: "swapped-"}[isListing], e.tokens())
			}
			if !ok || len(one.header.Values("Authorization")) > 1 {
				t.Errorf("%s, %s %s: Authorization %q", kind, one.method, one.body, got)
			}
			if all := fmt.Sprint(one.header, one.path, one.body); strings.Contains(all, token) || one.header.Get("Cookie") != "" || hasAssertion(one.header) != (kind == "assertion") {
				t.Errorf("%s, %s: %s", kind, one.method, all)
			}
		}
		if listed == 0 {
			t.Errorf("%s: no listing of the gateway was seen", kind)
		}
	}
	if got := elsewhere.requests(""); len(got) > 0 {
		t.Errorf("a redirect was followed: %v", got)
	}
	for _, hidden := range append(e.tokens(), secret, e.secret(t)) {
		if strings.Contains(g.Stderr.String(), hidden) {
			t.Errorf("the log has %s", hidden)
		}
	}
}

// calls returns how often a tool of the server of a kind was called.
func calls(s *scripted, kind string) (n int) {
	for _, one := range s.requests("/" + kind) {
		if strings.Contains(one.body, `"tools/call"`) {
			n++
		}
	}
	return n
}

// TestASecretIsReadForEachCall guarantees that a replaced file counts at once. A call without a secret does not reach the
// server.
func TestASecretIsReadForEachCall(t *testing.T) {
	t.Parallel()
	s, first, second := newScripted(t), rand.Text(), rand.Text()
	file := harness.TempFile(t, "secret", first)
	g := startKinds(t, s, []string{"secret"}, "--upstream-secret-file", "secret="+file)
	token := tokenOf(t, g, admin, "secret")
	waitForPins(t, g, "secret", token)
	harness.WriteFile(t, file, second+"\n")
	raw(t, g, pathOf("secret"), token, call("search_issues"), modern("tools/call", "search_issues")...)
	all := s.requests("/secret")
	if got := all[len(all)-1].header.Get("Authorization"); got != "Bearer "+second {
		t.Errorf("the server got %q", got)
	}
	before := calls(s, "secret")
	for _, content := range []string{"", "\n", second + " " + second, second + "\r\nX-Evil: 1", strings.Repeat("a", 9000)} {
		harness.WriteFile(t, file, content)
		resp, text := raw(t, g, pathOf("secret"), token, call("search_issues"), modern("tools/call", "search_issues")...)
		if resp.StatusCode != 200 || !strings.Contains(text, "-32603") || strings.Contains(text, second) {
			t.Errorf("%.20q: %d %s", content, resp.StatusCode, text)
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, text := raw(t, g, pathOf("secret"), token, call("search_issues"), modern("tools/call", "search_issues")...); !strings.Contains(text, "-32603") {
		t.Errorf("without the file: %s", text)
	}
	if after := calls(s, "secret"); after != before {
		t.Errorf("the server was called %d times without a secret", after-before)
	}
	if log := g.Stderr.String(); strings.Contains(log, first) || strings.Contains(log, second) {
		t.Error("the log has the secret")
	}
}

// TestAServerWithoutItsSettingIsNotCalled guarantees a warning at the start that names the setting.
func TestAServerWithoutItsSettingIsNotCalled(t *testing.T) {
	t.Parallel()
	s := newScripted(t)
	g := startKinds(t, s, []string{"secret"})
	token := tokenOf(t, g, admin, "secret")
	for method, body := range map[string]string{"tools/list": request("tools/list", ""), "server/discover": request("server/discover", "")} {
		resp, text := raw(t, g, pathOf("secret"), token, body, modern(method, "")...)
		if resp.StatusCode != 200 || !strings.Contains(text, "-32603") {
			t.Errorf("%d %s", resp.StatusCode, text)
		}
	}
	if all := s.requests(""); len(all) > 0 {
		t.Errorf("the server got %v", all)
	}
	if log := g.Stderr.String(); !strings.Contains(log, "no --upstream-secret-file names the upstream secret") || !strings.Contains(log, "no call of a server can be answered") {
		t.Errorf("the log does not name the setting: %s", log)
	}
}
