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
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestASuspendedUsersStreamEnds guarantees the end of an open stream within a second of the answer to the suspension. The
// next call is denied.
func TestASuspendedUsersStreamEnds(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	g := startGateway(t, u, rows)
	token := tokenFor(t, g, reader, bothScopes)
	ended := listen(t, g, path, token)
	select {
	case <-ended:
		t.Fatal("the stream has ended")
	case <-time.After(1200 * time.Millisecond): // it is judged twice meanwhile
	}
	if r := harness.Call(t, "PUT", g.URL+"/api/v1/users/"+reader, g.UserToken(t, admin), `{"status": "SUSPENDED"}`, "x-account-id", account); r.Status != 200 {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
	answered := time.Now()
	if resp, text := raw(t, g, path, token, call("search_issues"), modern("tools/call", "search_issues")...); resp.StatusCode != 401 && !strings.Contains(text, "-32001") {
		t.Errorf("the next call: %d %s", resp.StatusCode, text)
	}
	select {
	case end := <-ended:
		if took := end.Sub(answered); took > time.Second {
			t.Errorf("the stream ended after %s", took)
		}
	case <-time.After(10 * time.Second):
		t.Error("the stream goes on")
	}
}

// streaming sends a message whose response is a stream.
func streaming(ctx context.Context, t *testing.T, g *harness.Gateway, path, token, body string, headers []string) *http.Response {
	t.Helper()
	resp, err := post(ctx, g, path, token, body, headers...)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%v %v", resp, err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// listen opens the stream of subscriptions/listen, and returns what gets the time at which it ends.
func listen(t *testing.T, g *harness.Gateway, path, token string) (ended chan time.Time) {
	t.Helper()
	body := request("subscriptions/listen", `"notifications":{"toolsListChanged":true}`)
	resp := streaming(t.Context(), t, g, path, token, body, modern("subscriptions/listen", ""))
	ended = make(chan time.Time, 1)
	go func() {
		room := make([]byte, 4096)
		for {
			if _, err := resp.Body.Read(room); err != nil {
				ended <- time.Now()
				return
			}
		}
	}()
	return ended
}

// TestAnExpiredTokensStreamEnds guarantees that an open stream ends within a second of the end of its token. The gateway
// accepts a token for 30 seconds beyond `exp`.
func TestAnExpiredTokensStreamEnds(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	provider := harness.NewIdentityProvider(t, "https://login.example", "k1")
	g := harness.OutsideGateway(t, "--jwt-issuer", "https://login.example", "--jwt-audience", provider.Audience, "--jwks-file", harness.TempFile(t, "jwks.json", provider.Jwks()),
		"--public-url", publicURL, "--policy-dir", policiesWith(t, rows), "--upstream", "github="+u.url)
	end := time.Now().Add(3 * time.Second).Truncate(time.Second)
	token := provider.Token(t, harness.OutsideAdmin, func(c jwt.MapClaims) {
		c["aud"], c["scope"], c["exp"] = publicURL+"/mcp/issues", bothScopes, end.Add(-30*time.Second).Unix()
		delete(c, "iat")
		delete(c, "nbf")
	})
	ended := listen(t, g, "/mcp/issues", token)
	select {
	case closed := <-ended:
		if late := closed.Sub(end); late < 0 || late > time.Second {
			t.Errorf("the stream ended %s after its token", late)
		}
	case <-time.After(20 * time.Second):
		t.Error("the stream goes on")
	}
}

// TestATokenOfARemovedKeyLosesItsStream guarantees that an open stream ends once the gateway refuses its token: the issuer
// has withdrawn the key, or the token names another user.
func TestATokenOfARemovedKeyLosesItsStream(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	provider := harness.NewIdentityProvider(t, "https://login.example", "k1")
	file := harness.TempFile(t, "jwks.json", provider.Jwks())
	g := harness.OutsideGateway(t, "--jwt-issuer", "https://login.example", "--jwt-audience", provider.Audience, "--jwks-file", file,
		"--public-url", publicURL, "--policy-dir", policiesWith(t, rows), "--upstream", "github="+u.url)
	token := provider.Token(t, harness.OutsideAdmin, func(c jwt.MapClaims) {
		c["aud"], c["scope"] = publicURL+"/mcp/issues", bothScopes
	})
	ended := listen(t, g, "/mcp/issues", token)
	select {
	case <-ended:
		t.Error("the stream ended while its token was valid")
	case <-time.After(1500 * time.Millisecond):
	}
	must.Do(t, os.WriteFile(file, []byte(harness.NewIdentityProvider(t, "https://login.example", "another").Jwks()), 0o600))
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the stream goes on")
	}
}

// TestARevokeDuringTheWaitEndsTheStream guarantees that a stream ends if its user was suspended after the call was judged
// and before the server began its response.
func TestARevokeDuringTheWaitEndsTheStream(t *testing.T) {
	t.Parallel()
	called, answer := make(chan struct{}, 1), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		called <- struct{}{}
		<-answer
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	g := startOn(t, server.URL, policiesWith(t, rows))
	token := tokenFor(t, g, reader, bothScopes)
	ended := make(chan time.Time, 1)
	go func() {
		if resp, err := post(t.Context(), g, path, token, call("search_issues"), modern("tools/call", "search_issues")...); err == nil {
			_, _ = io.Copy(io.Discard, resp.Body) // until its end
			_ = resp.Body.Close()
		}
		ended <- time.Now()
	}()
	<-called
	if r := harness.Call(t, "PUT", g.URL+"/api/v1/users/"+reader, g.UserToken(t, admin), `{"status": "SUSPENDED"}`, "x-account-id", account); r.Status != 200 {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
	begun := time.Now()
	close(answer)
	select {
	case end := <-ended:
		if took := end.Sub(begun); took > time.Second {
			t.Errorf("the stream ended after %s", took)
		}
	case <-time.After(10 * time.Second):
		t.Error("the stream goes on")
	}
}

// TestServersAskWhatTheyMay guarantees that a legacy server's request reaches the client if server_requests lists its
// kind. Otherwise the server gets an error at once, the client nothing, and the log one line for the stream.
func TestServersAskWhatTheyMay(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, false)
	asked := make(chan error, 10)
	u.server.AddTool(&mcp.Tool{Name: "search_issues", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		_, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "which one?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`)})
		_, again := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "and then?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`)})
		if (err == nil) != (again == nil) {
			t.Errorf("first %v, then %v", err, again)
		}
		asked <- err
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "asked"}}}, nil
	})
	for listed, want := range map[string]bool{``: false, `"server_requests": ["sampling"],`: false, `"server_requests": ["elicitation", "roots"],`: true} {
		g := startGateway(t, u, strings.Replace(rows, `"pin": "names",`, listed+`"pin": "names",`, 1))
		reached := 0
		client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, &mcp.ClientOptions{
			ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				reached++
				return &mcp.ElicitResult{Action: "accept"}, nil
			},
		})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: g.URL + path, HTTPClient: &http.Client{Transport: bearer{tokenFor(t, g, reader, bothScopes)}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "search_issues"})
		if err != nil || result.IsError {
			t.Fatalf("%s: %v %+v", listed, err, result)
		}
		if err := <-asked; (err == nil) != want || (reached == 2) != want || err != nil && !strings.Contains(err.Error(), "does not let this server") {
			t.Errorf("%s: the server got %v, the client %d requests", listed, err, reached)
		}
		if err := session.Close(); err != nil {
			t.Error(err)
		}
		cancel()
		g.Terminate(t) // so that its log is whole
		g.Ended(t)
		if lines := strings.Count(g.Stderr.String(), "server's request was rejected"); (lines == 1) == want || lines > 1 {
			t.Errorf("%s: %d lines in the log", listed, lines)
		}
	}
}

// TestAStreamOfAnotherUpstreamEnds guarantees that the streams of an upstream end within a second once the policy in force
// has moved its server to another one.
func TestAStreamOfAnotherUpstreamEnds(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var call struct{ ID json.RawMessage }
		_ = json.NewDecoder(r.Body).Decode(&call) // it has an id
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(call.ID)+`,"result":{"resultType":"complete","content":[{"type":"text","text":"moved"}]}}`)
	}))
	t.Cleanup(other.Close)
	policies := withOther(t, policiesWith(t, rows), strings.Replace(rows, `"github"`, `"moved"`, 1))
	g := startOn(t, u.url, policies, "--upstream", "moved="+other.URL)
	token := tokenFor(t, g, reader, bothScopes)
	ended := listen(t, g, path, token)
	harness.WriteFile(t, filepath.Join(policies, "mcp", "issues", "data.json"), strings.Replace(rows, `"github"`, `"moved"`, 1))
	harness.Soon(t, "the server has moved", func() bool {
		_, text := raw(t, g, path, token, call("search_issues"), modern("tools/call", "search_issues")...)
		return strings.Contains(text, "moved")
	})
	select {
	case <-ended:
	case <-time.After(2 * time.Second):
		t.Error("the stream goes on")
	}
}

// TestARevokeDuringTheWaitKeepsTheResponse guarantees that a late response does not reach a suspended user. The record of the
// call says so.
func TestARevokeDuringTheWaitKeepsTheResponse(t *testing.T) {
	t.Parallel()
	called, answer := make(chan struct{}, 1), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		called <- struct{}{}
		<-answer
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"secret-answer"}]}}`)
	}))
	t.Cleanup(server.Close)
	g := startOn(t, server.URL, policiesWith(t, rows), "--decision-log", "required")
	token, got := tokenFor(t, g, reader, bothScopes), make(chan string, 1)
	go func() {
		_, text := callWithin(t.Context(), g, token)
		got <- text
	}()
	<-called
	if r := harness.Call(t, "PUT", g.URL+"/api/v1/users/"+reader, g.UserToken(t, admin), `{"status": "SUSPENDED"}`, "x-account-id", account); r.Status != 200 {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
	time.Sleep(600 * time.Millisecond) // streams have been judged again meanwhile
	close(answer)
	if text := <-got; strings.Contains(text, "secret-answer") || !strings.Contains(text, "-32603") {
		t.Errorf("%s", text)
	}
	if text, _ := export(t, g); !strings.Contains(text, `"ended_by":"verdict"`) {
		t.Errorf("%s", text)
	}
}
