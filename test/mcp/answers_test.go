package mcp_test

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// askedID finds the client's ids of a server's requests.
var askedID = regexp.MustCompile(`"id":("[^"]*"|\d+),"method":"elicitation/create"`)

const elicits = `{"jsonrpc":"2.0","id":%ID%,"method":"elicitation/create","params":{"message":"sure?","requestedSchema":{"type":"object","properties":{}}}}`

// answering is a legacy session at a server that asks its client: while a tool runs, and on the stream of the session.
type answering struct {
	*harness.Gateway
	s                *tasker
	token            string
	session          []string
	ofCall, session7 string // the client's ids of both requests
}

func newAnswering(t *testing.T) *answering {
	t.Helper()
	s := newTasker(t)
	row := strings.Replace(rows, `"pin"`, `"server_requests": ["elicitation"], "pin"`, 1)
	a := &answering{Gateway: startOn(t, s.url, withOther(t, policiesWith(t, row), row)), s: s}
	a.token = tokenFor(t, a.Gateway, reader, bothScopes)
	resp, _ := raw(t, a.Gateway, path, a.token, legacyStart)
	a.session = []string{"Mcp-Session-Id", resp.Header.Get("Mcp-Session-Id"), "MCP-Protocol-Version", "2025-11-25"}
	s.set("tools/call", strings.Replace(elicits, "%ID%", `"e"`, 1)+"\n"+
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"e"}}`+"\n"+
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"of another"}}`+"\n"+
		`{"jsonrpc":"2.0","id":"ID","result":{"content":[]}}`)
	_, text := raw(t, a.Gateway, path, a.token, legacyCall, a.session...)
	a.ofCall = idOfRequest(t, text)
	if !strings.Contains(text, `"requestId":`+a.ofCall) || strings.Contains(text, "of another") {
		t.Errorf("the server has cancelled it: %s", text)
	}
	s.set("", strings.Replace(elicits, "%ID%", "7", 1))
	stream, err := io.ReadAll(get(t, a.Gateway, path, a.token, a.session[1], "").Body)
	if err != nil {
		t.Fatal(err)
	}
	a.session7 = idOfRequest(t, string(stream))
	s.got()
	return a
}

// idOfRequest returns the client's id of the only request in a stream.
func idOfRequest(t *testing.T, text string) string {
	t.Helper()
	all := askedID.FindAllStringSubmatch(text, -1)
	if len(all) != 1 || len(all[0][1]) < 40 {
		t.Fatalf("the request has no sealed id: %s", text)
	}
	return all[0][1]
}

func accept(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":{"action":"accept"}}`
}

// sends posts an answer and returns its status, and what the server got.
func (a *answering) sends(t *testing.T, path, token, id string) (status int, got string) {
	t.Helper()
	resp, _ := raw(t, a.Gateway, path, token, accept(id), a.session...)
	for _, one := range a.s.got() {
		got += one.body
	}
	return resp.StatusCode, got
}

// TestAnAnswerIsOfItsCaller guarantees that the answer to a server's request reaches the server with the server's id, and
// with no other id. Of another user, agent, server or path it is a 404.
func TestAnAnswerIsOfItsCaller(t *testing.T) {
	t.Parallel()
	a := newAnswering(t)
	for sealed, id := range map[string]string{a.ofCall: `"e"`, a.session7: `7`} {
		if status, got := a.sends(t, path, a.token, sealed); status != http.StatusAccepted || got != accept(id) {
			t.Errorf("%s: %d, the server got %s", id, status, got)
		}
	}
	const other, short = "/mcp/projects/" + project + "/other", "/mcp/issues"
	tokenAt := func(path string, args ...string) string {
		return a.Token(t, append([]string{"--user", reader, "--audience", publicURL + path, "--scope", bothScopes}, args...)...)
	}
	plain := a.session
	for name, c := range map[string]struct{ path, token, id string }{
		"the server's id": {path, a.token, `"e"`}, "its other id": {path, a.token, `7`}, "a changed id": {path, a.token, `"` + harness.OtherEnding(strings.Trim(a.ofCall, `"`)) + `"`},
		"another user": {path, tokenFor(t, a.Gateway, admin, bothScopes), a.ofCall}, "another agent": {path, tokenAt(path, "--agent", "helper"), a.ofCall},
		"another server": {other, tokenAt(other), a.ofCall}, "another path": {short, tokenAt(short), a.ofCall}, "a session's id": {path, a.token, `"` + a.session[1] + `"`},
	} {
		if a.session = nil; c.token == a.token {
			a.session = plain
		}
		if status, got := a.sends(t, c.path, c.token, c.id); status != 404 || got != "" {
			t.Errorf("%s: %d, the server got %s", name, status, got)
		}
	}
}

// TestAnAnswerIsJudgedAsItsCall guarantees that the answer to a tool's request needs the right and the scope to call the
// tool. One on the stream of the session needs the right to use something of the server.
func TestAnAnswerIsJudgedAsItsCall(t *testing.T) {
	t.Parallel()
	a := newAnswering(t)
	if status, got := a.sends(t, path, tokenFor(t, a.Gateway, reader, "mcp:write"), a.ofCall); status != 403 || got != "" {
		t.Errorf("without the scope: %d, the server got %s", status, got)
	}
	if r := harness.Call(t, "DELETE", a.URL+"/api/v1/accounts/"+account+"/roles/account_reader/assignments/"+reader, a.UserToken(t, admin), ""); r.Status/100 != 2 {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
	for name, id := range map[string]string{"of the call": a.ofCall, "of the session": a.session7} {
		if status, got := a.sends(t, path, a.token, id); status != 403 || got != "" {
			t.Errorf("after the revoke, %s: %d, the server got %s", name, status, got)
		}
	}
}
