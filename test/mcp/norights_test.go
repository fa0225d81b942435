package mcp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/harness"
)

// sessionStream asks for the stream of a session, and returns the response.
func sessionStream(ctx context.Context, t *testing.T, url, token string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// endless starts a server that answers everything with a stream of log messages without an end.
func endless(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			_, _ = io.WriteString(w, `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"a line"}}`+"\n\n")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return server
}

// TestAStreamNeedsARight guarantees 403 for the stream of a session to a member without a right at the server, and to an
// agent there. A stream that answers a message about no row ends within two seconds for them. So it does for a user once
// the last right is gone.
func TestAStreamNeedsARight(t *testing.T) {
	t.Parallel()
	g := startOn(t, endless(t).URL, policiesWith(t, rows))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // a stream that goes on fails the test
	defer cancel()
	bare := g.Token(t, "--user", stranger, "--audience", publicURL+path, "--scope", "openid")
	if resp := sessionStream(ctx, t, g.URL+path, bare); resp.StatusCode != http.StatusForbidden {
		t.Errorf("without a right: %d", resp.StatusCode)
	}
	if resp := sessionStream(ctx, t, g.URL+path, tokenFor(t, g, admin, bothScopes)); resp.StatusCode != http.StatusOK {
		t.Errorf("with a right: %d", resp.StatusCode)
	}
	until := time.Now().Add(4 * time.Second)
	assignUntil(t, g, until)
	withRight := sessionStream(ctx, t, g.URL+path, tokenFor(t, g, stranger, bothScopes))
	if withRight.StatusCode != http.StatusOK {
		t.Fatalf("with a right for some seconds: %d", withRight.StatusCode)
	}
	_, _ = io.Copy(io.Discard, withRight.Body)
	if took := time.Since(until); took < -time.Second || took > 2*time.Second {
		t.Errorf("the stream ended %s after the right", took)
	}
	body := request("subscriptions/listen", `"notifications":{"toolsListChanged":true}`)
	answer := streaming(ctx, t, g, path, bare, body, modern("subscriptions/listen", ""))
	began := time.Now()
	_, _ = io.Copy(io.Discard, answer.Body)
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("without a right the stream of an answer ended after %s", took)
	}
}

// TestNobodySpeaksForAnotherAccount guarantees 403 for messages about no row in the name of an account that is not the
// caller's. The server sees none of them.
func TestNobodySpeaksForAnotherAccount(t *testing.T) {
	t.Parallel()
	s := newScripted(t)
	g := startOn(t, s.url, policiesWith(t, rows))
	for _, other := range []string{"/mcp/accounts/acct-other-v1/issues", "/mcp/accounts/" + harness.OutsideAccount + "/issues"} {
		token := g.Token(t, "--user", admin, "--audience", publicURL+other, "--scope", bothScopes)
		for _, m := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/anything","params":{"x":1}}`,
			`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
			`{"jsonrpc":"2.0","id":3,"method":"logging/setLevel","params":{"level":"debug"}}`,
		} {
			if resp, text := raw(t, g, other, token, m); resp.StatusCode != http.StatusForbidden {
				t.Errorf("%s: %d %s", m, resp.StatusCode, text)
			}
		}
		if resp := sessionStream(t.Context(), t, g.URL+other, token); resp.StatusCode != http.StatusForbidden {
			t.Errorf("the stream: %d", resp.StatusCode)
		}
	}
	for _, one := range s.requests("") {
		if named := one.header.Get("X-Account-Id"); named != "" && named != account {
			t.Errorf("the server got %s %s for %s", one.method, one.body, named)
		}
	}
	address := "/mcp/accounts/" + account + "/issues"
	token := g.Token(t, "--user", stranger, "--audience", publicURL+address, "--scope", bothScopes)
	if resp, text := raw(t, g, address, token, request("tools/list", ""), modern("tools/list", "")...); resp.StatusCode != http.StatusOK || strings.Contains(text, "search_issues") {
		t.Errorf("the own account: %d %s", resp.StatusCode, text)
	}
}

// TestALateListIsNarrowedByTheRightsOfThen guarantees a list without the tools of a role if the server answers after its end.
func TestALateListIsNarrowedByTheRightsOfThen(t *testing.T) {
	t.Parallel()
	until := time.Now().Add(3 * time.Second)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if raw, _ := io.ReadAll(r.Body); strings.Contains(string(raw), `"late"`) {
			time.Sleep(time.Until(until.Add(500 * time.Millisecond)))
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[`+scriptedTool+`]}}`)
	}))
	t.Cleanup(server.Close)
	g := startOn(t, server.URL, policiesWith(t, rows))
	until = time.Now().Add(3 * time.Second)
	assignUntil(t, g, until)
	token := tokenFor(t, g, stranger, bothScopes)
	for _, cursor := range []string{"early", "late"} {
		has := cursor == "early"
		list := request("tools/list", `"cursor":"`+cursor+`"`)
		if resp, text := raw(t, g, path, token, list, modern("tools/list", "")...); resp.StatusCode != http.StatusOK || strings.Contains(text, "search_issues") != has {
			t.Errorf("%s: %d %s", cursor, resp.StatusCode, text)
		}
	}
}

// assignUntil gives the stranger a role in the project that ends.
func assignUntil(t *testing.T, g *harness.Gateway, until time.Time) {
	t.Helper()
	r := harness.Call(t, "PUT", g.URL+"/api/v1/accounts/"+account+"/roles/project_reader/assignments/"+stranger, g.UserToken(t, admin),
		fmt.Sprintf(`{"projectId":%q,"expiresAt":%q}`, project, resources.At(until)))
	if r.Status != http.StatusOK {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
}
