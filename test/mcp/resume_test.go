package mcp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// newPoller starts a legacy server that ends the stream of a call behind its first event. The client gets the response when
// it resumes the stream. A resumed stream stays open. resumed returns the events that clients have resumed at, each with the
// method in the headers.
func newPoller(t *testing.T) (url string, resumed func() []string) {
	t.Helper()
	var mu sync.Mutex
	var events []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			mu.Lock()
			events = append(events, r.Header.Get("Last-Event-ID")+r.Header.Get("Mcp-Method"))
			mu.Unlock()
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "id: e.2\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}}\n\n")
			_ = http.NewResponseController(w).Flush() // the gateway may have gone
			<-r.Context().Done()
			return
		}
		raw, _ := io.ReadAll(r.Body) // a broken request has no method
		var call struct{ Method string }
		_ = json.Unmarshal(raw, &call)
		if call.Method == "tools/call" {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "id: e.1\nretry: 10\ndata:\n\n")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Mcp-Session-Id", "session-of-the-server")
		_, _ = io.WriteString(w, opened)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), events...)
	}
}

// get opens the stream of a session, or resumes one behind an event.
func get(t *testing.T, g *harness.Gateway, path, token, session, event string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Authorization": {"Bearer " + token}, "Accept": {"text/event-stream"}, "Mcp-Method": {"tools/call"}}
	for name, value := range map[string]string{"Mcp-Session-Id": session, "Last-Event-ID": event} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

var eventID = regexp.MustCompile(`id: (\S+)\n`)

// TestAResumedStreamIsOfItsCall guarantees that the caller alone resumes the stream of a call, at the same path and while the
// call is allowed. The server gets its own event id, no header of a message, and nothing otherwise.
func TestAResumedStreamIsOfItsCall(t *testing.T) {
	t.Parallel()
	url, resumed := newPoller(t)
	g := startOn(t, url, withOther(t, policiesWith(t, rows), rows))
	token := tokenFor(t, g, reader, bothScopes)
	resp, _ := raw(t, g, path, token, legacyStart)
	session := resp.Header.Get("Mcp-Session-Id")
	_, text := raw(t, g, path, token, legacyCall, "Mcp-Session-Id", session)
	match := eventID.FindStringSubmatch(text)
	if match == nil || strings.Contains(text, "e.1") || !strings.Contains(text, "retry: 10\ndata:\n\n") {
		t.Fatalf("%q", text)
	}
	event := match[1]
	const other, short = "/mcp/projects/" + project + "/other", "/mcp/issues"
	tokenAt := func(path string, args ...string) string {
		return g.Token(t, append([]string{"--user", reader, "--audience", publicURL + path, "--scope", bothScopes}, args...)...)
	}
	for name, c := range map[string]struct{ path, token, session, event string }{
		"another user":    {path, tokenFor(t, g, admin, bothScopes), "", event},
		"another agent":   {path, tokenAt(path, "--agent", "helper"), "", event},
		"another server":  {other, tokenAt(other), "", event},
		"another path":    {short, tokenAt(short), "", event},
		"the server's id": {path, token, session, "e.1"},
		"a session":       {path, token, session, session},
		"a changed id":    {path, token, session, harness.OtherEnding(event)},
	} {
		if resp := get(t, g, c.path, c.token, c.session, c.event); resp.StatusCode != 404 || len(resumed()) != 0 {
			t.Errorf("%s: %d, the server got %q", name, resp.StatusCode, resumed())
		}
	}
	r := harness.Call(t, "GET", g.URL+path, token, "", "Last-Event-ID", event, "MCP-Protocol-Version", "2025-11-25", "MCP-Protocol-Version", "2025-06-18")
	if r.Status != 400 || len(resumed()) != 0 {
		t.Errorf("two versions: %d %s", r.Status, r.Raw)
	}
	stream := get(t, g, path, token, session, event)
	room := make([]byte, 4096)
	n, err := io.ReadAtLeast(stream.Body, room, 100)
	if text := string(room[:n]); err != nil || !strings.Contains(text, "done") || strings.Contains(text, "e.2") || fmt.Sprint(resumed()) != "[e.1]" {
		t.Errorf("%d %q %v, the server got %q", stream.StatusCode, text, err, resumed())
	}
	ended := make(chan time.Time, 1)
	go func() {
		_, _ = io.Copy(io.Discard, stream.Body) // until its end
		ended <- time.Now()
	}()
	if r = harness.Call(t, "DELETE", g.URL+"/api/v1/accounts/"+account+"/roles/account_reader/assignments/"+reader, g.UserToken(t, admin), ""); r.Status/100 != 2 {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
	answered := time.Now()
	if resp := get(t, g, path, token, session, event); resp.StatusCode != 403 || len(resumed()) != 1 {
		t.Errorf("after the revoke: %d, the server got %q", resp.StatusCode, resumed())
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

// TestUpdatesOfResourcesAreJudged guarantees notifications about resources to those who may read them.
func TestUpdatesOfResourcesAreJudged(t *testing.T) {
	t.Parallel()
	s := newTasker(t)
	g := startOn(t, s.url, policiesWith(t, rows))
	const update = `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"%s"}}`
	s.set("", fmt.Sprintf(update, "repo://acme/site/readme")+"\n"+fmt.Sprintf(update, "file:///etc/passwd")+"\n"+`{"jsonrpc":"2.0","method":"notifications/resources/updated"}`)
	for user, want := range map[string]int{reader: 1, stranger: 0} {
		token := tokenFor(t, g, user, bothScopes)
		resp, _ := raw(t, g, path, token, legacyStart)
		text, err := io.ReadAll(get(t, g, path, token, resp.Header.Get("Mcp-Session-Id"), "").Body)
		if err != nil || strings.Count(string(text), "updated") != want || strings.Contains(string(text), "passwd") {
			t.Errorf("%s: %s %v", user, text, err)
		}
	}
}
