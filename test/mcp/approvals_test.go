package mcp_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// approvalRows need an approval for each call of two tools.
var approvalRows = strings.NewReplacer(`"effect": "write"}`, `"effect": "write", "approval": "each_call"}`,
	`"search_issues": {"action": "project:github_issue:read", "effect": "read"}`, `"search_issues": {"action": "project:github_issue:read", "effect": "read"}, "drop_database": {"action": "project:github_pull:merge", "effect": "write", "approval": "each_call"}`).Replace(rows)

const (
	merge     = "merge_pull_request"
	approvals = "/users/" + harness.OutsideAdmin + "/approvals"
)

// answer is the door's answer to a call.
type answer struct{ text, code, id string }

// ask calls a tool with arguments. It fails the test if the server was called without answering, or the reverse.
func (s *agentScene) ask(t *testing.T, path, token, tool, arguments string) answer {
	t.Helper()
	before := len(s.u.called())
	_, text := raw(t, s.Gateway, path, token, callWith(tool, arguments), modern("tools/call", tool)...)
	a := answer{text: text, code: between(text, `"code":"`), id: between(text, `"access_request":{"id":"`)}
	if made := len(s.u.called()) - before; (made == 1) != strings.Contains(text, "done ") || made > 1 {
		t.Errorf("the server was called %d times: %s", made, text)
	}
	return a
}

func between(text, before string) string {
	_, rest, _ := strings.Cut(text, before)
	out, _, ok := strings.Cut(rest, `"`)
	if !ok {
		return ""
	}
	return out
}

// refused fails the test unless the call needs an approval.
func (a answer) refused(t *testing.T) answer {
	t.Helper()
	if a.code != "needs_approval" {
		t.Errorf("want needs_approval: %s", a.text)
	}
	return a
}

// done fails the test unless the server has answered.
func (a answer) done(t *testing.T) {
	t.Helper()
	if !strings.Contains(a.text, "done ") {
		t.Errorf("want the server's answer: %s", a.text)
	}
}

func (s *agentScene) decide(t *testing.T, id, status string) {
	t.Helper()
	s.api(t, 200, "PATCH", approvals+"/"+id, `{"status":"`+status+`"}`)
}

// TestAnApprovalLetsOneCallThrough guarantees the whole way: the denial names a request, the same call again names the same
// one, the approved call goes out once with its bytes, and the next one needs another approval. The record of the call
// names the approval.
func TestAnApprovalLetsOneCallThrough(t *testing.T) {
	t.Parallel()
	s := newAgentScene(t, approvalRows)
	token := s.token(t, "helper")
	const arguments = `{"q":"x","n":9007199254740993}`
	first := s.ask(t, agentPath, token, merge, arguments).refused(t)
	if first.id == "" || !strings.Contains(first.text, `"expires_at":"`) || strings.Contains(first.text, `"url"`) || !strings.Contains(first.text, "decide the request "+first.id) {
		t.Fatalf("%s", first.text)
	}
	if again := s.ask(t, agentPath, token, merge, ` { "n":9007199254740993, "q" : "\u0078" } `).refused(t); again.id != first.id {
		t.Errorf("the same call has another request: %s", again.text)
	}
	r := s.api(t, 200, "GET", approvals+"/"+first.id, "")
	got := harness.At(r.Body, "approval")
	for name, want := range map[string]string{
		"user_id": harness.OutsideAdmin, "server": "issues", "tool": merge, "effect": "write", "place": "projects/proj-outside-v1/issues", "status": "PENDING", "arguments": arguments,
	} {
		if harness.At(got, name) != want {
			t.Errorf("%s is %v, want %s", name, harness.At(got, name), want)
		}
	}
	if harness.At(got, "client", "client_id") != "helper" {
		t.Errorf("%v", got)
	}
	s.decide(t, first.id, "APPROVED")
	s.ask(t, agentPath, token, merge, arguments).done(t)
	if calls := s.u.called(); len(calls) != 1 || !strings.Contains(calls[0], "9007199254740993") {
		t.Errorf("%v", calls)
	}
	r = s.api(t, 200, "GET", approvals+"/"+first.id, "")
	if harness.At(r.Body, "approval", "status") != "USED" || harness.At(r.Body, "approval", "arguments") != nil {
		t.Errorf("%s", r.Raw)
	}
	if second := s.ask(t, agentPath, token, merge, arguments).refused(t); second.id == "" || second.id == first.id {
		t.Errorf("the second call: %s", second.text)
	}
}

// TestAnApprovalFitsNothingElse guarantees that an approved call lets no other one through: with other arguments, of another
// tool, client or place, of the user's own, or with further parameters. Afterwards the approved call still goes out.
func TestAnApprovalFitsNothingElse(t *testing.T) {
	t.Parallel()
	s := newAgentScene(t, approvalRows)
	token := s.token(t, "helper")
	s.decide(t, s.ask(t, agentPath, token, merge, `{"q":"x"}`).refused(t).id, "APPROVED")
	for _, arguments := range []string{`{"q":"y"}`, `{"q":"x "}`, `{"Q":"x"}`, `{"q":"x","r":null}`, `{}`, `{"q":["x"]}`} {
		s.ask(t, agentPath, token, merge, arguments).refused(t)
	}
	s.ask(t, agentPath, token, "drop_database", `{"q":"x"}`).refused(t)
	s.ask(t, agentPath, s.token(t, "other"), merge, `{"q":"x"}`).refused(t)
	s.ask(t, agentPath, s.token(t, ""), merge, `{"q":"x"}`).refused(t)
	s.ask(t, agentPath, s.token(t, "other", func(c jwt.MapClaims) { c["act"] = map[string]any{"sub": "agent"} }), merge, `{"q":"x"}`).refused(t)
	const whole = "/mcp/accounts/" + harness.OutsideAccount + "/projects/proj-outside-v1/issues"
	s.ask(t, whole, s.token(t, "helper", func(c jwt.MapClaims) { c["aud"] = publicURL + whole }), merge, `{"q":"x"}`).refused(t)
	_, text := raw(t, s.Gateway, agentPath, token, request("tools/call", `"name":"`+merge+`","arguments":{"q":"x"},"inputResponses":{"sure":{"action":"accept"}}`), modern("tools/call", merge)...)
	answer{text: text, code: between(text, `"code":"`)}.refused(t)
	if calls := s.u.called(); len(calls) != 0 {
		t.Errorf("the server was called: %v", calls)
	}
	s.ask(t, agentPath, token, merge, `{"q":"x"}`).done(t)
}

// TestAnApprovalOverridesNoDenial guarantees that all else is judged before an approval. A call with another reason to deny it
// neither uses the approval up nor makes a request.
func TestAnApprovalOverridesNoDenial(t *testing.T) {
	t.Parallel()
	s := newAgentScene(t, strings.Replace(approvalRows, `"agents": "any", "consent": "not_required"`, `"agents": "registered", "consent": "required"`, 1))
	id := s.register(t, "helper")
	give := "/users/" + harness.OutsideAdmin + "/delegations/" + id
	s.api(t, 200, "PUT", "/roles/project_admin/assignments/"+id, `{"assigneeType":"AGENT","projectId":"proj-outside-v1"}`)
	token := s.token(t, "helper")
	if got := s.ask(t, agentPath, token, merge, `{"q":"x"}`); got.code != "needs_delegation" || got.id != "" {
		t.Errorf("%s", got.text)
	}
	s.api(t, 200, "PUT", give, `{"permissions":["*:*:*"]}`)
	first := s.ask(t, agentPath, token, merge, `{"q":"x"}`).refused(t)
	r := s.api(t, 200, "GET", approvals+"/"+first.id, "")
	if harness.At(r.Body, "approval", "agent_id") != id || harness.At(r.Body, "approval", "agent_name") != "helper" {
		t.Errorf("%s", r.Raw)
	}
	s.decide(t, first.id, "APPROVED")
	s.api(t, 200, "DELETE", give, "")
	if got := s.ask(t, agentPath, token, merge, `{"q":"x"}`); got.code != "needs_delegation" {
		t.Errorf("without a delegation: %s", got.text)
	}
	s.api(t, 200, "PUT", give, `{"permissions":["*:*:*"]}`)
	narrow := s.token(t, "helper", func(c jwt.MapClaims) { c["scope"] = "mcp:read" })
	if resp, text := raw(t, s.Gateway, agentPath, narrow, callWith(merge, `{"q":"x"}`), modern("tools/call", merge)...); resp.StatusCode != http.StatusForbidden {
		t.Errorf("without the scope: %d %s", resp.StatusCode, text)
	}
	if resp, text := raw(t, s.Gateway, agentPath, narrow, callWith("drop_database", `{"q":"x"}`), modern("tools/call", "drop_database")...); resp.StatusCode != http.StatusForbidden {
		t.Errorf("without the scope: %d %s", resp.StatusCode, text)
	}
	if resp, text := raw(t, s.Gateway, agentPath, token, callWith(merge, `{"q":"x"}`), modern("tools/call", "search_issues")...); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("with a header of another tool: %d %s", resp.StatusCode, text)
	}
	legacy := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + merge + `","arguments":{"q":"x"}}}`
	if resp, text := raw(t, s.Gateway, agentPath, token, legacy, "Mcp-Session-Id", "guessed"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("with a guessed session: %d %s", resp.StatusCode, text)
	}
	if r := s.api(t, 200, "GET", approvals, ""); fmt.Sprint(harness.At(r.Body, "total_count")) != "1" {
		t.Errorf("a denied call made a request: %s", r.Raw)
	}
	s.ask(t, agentPath, token, merge, `{"q":"x"}`).done(t)
}

// TestOneOfManyParallelCallsGoesOut guarantees it for an approved call that is sent 16 times at once.
func TestOneOfManyParallelCallsGoesOut(t *testing.T) {
	t.Parallel()
	s := newAgentScene(t, approvalRows)
	token := s.token(t, "helper")
	for round := range 5 {
		arguments := fmt.Sprintf(`{"q":"%d"}`, round)
		s.decide(t, s.ask(t, agentPath, token, merge, arguments).refused(t).id, "APPROVED")
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() {
				_, _ = raw(t, s.Gateway, agentPath, token, callWith(merge, arguments), modern("tools/call", merge)...)
			})
		}
		all.Wait()
		if calls := s.u.called(); len(calls) != round+1 {
			t.Fatalf("round %d: the server was called %d times", round, len(calls))
		}
	}
}

// TestRequestsAreBounded guarantees at most 10 open requests of a client, and no request for arguments that are too large.
// A declined call is denied with that reason, without another request.
func TestRequestsAreBounded(t *testing.T) {
	t.Parallel()
	s := newAgentScene(t, approvalRows)
	token := s.token(t, "helper")
	if got := s.ask(t, agentPath, token, merge, `{"q":"`+strings.Repeat("x", 16<<10)+`"}`).refused(t); got.id != "" || !strings.Contains(got.text, "16 KiB") {
		t.Errorf("%s", got.text)
	}
	var last answer
	for i := range 10 {
		if last = s.ask(t, agentPath, token, merge, fmt.Sprintf(`{"q":"%d"}`, i)).refused(t); last.id == "" {
			t.Fatalf("%d: %s", i, last.text)
		}
	}
	if got := s.ask(t, agentPath, token, merge, `{"q":"more"}`).refused(t); got.id != "" || !strings.Contains(got.text, "20 open requests, or 10 of this client") {
		t.Errorf("%s", got.text)
	}
	s.decide(t, last.id, "DENIED")
	if got := s.ask(t, agentPath, token, merge, `{"q":"9"}`).refused(t); got.id != "" || !strings.Contains(got.text, "you have declined this call") {
		t.Errorf("%s", got.text)
	}
	if got := s.ask(t, agentPath, token, merge, `{"q":"more"}`).refused(t); got.id == "" {
		t.Errorf("%s", got.text)
	}
	if calls := s.u.called(); len(calls) != 0 {
		t.Errorf("the server was called: %v", calls)
	}
}

// TestAnApprovedStreamGoesOn guarantees that a call's open stream, judged again, needs no further approval and makes no
// request. The record of the call names the approval, without a value of the arguments.
func TestAnApprovedStreamGoesOn(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(1700 * time.Millisecond): // the door judges it three times meanwhile
			_, _ = io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"late\"}]}}\n\n")
		}
	}))
	t.Cleanup(server.Close)
	g := startOn(t, server.URL, policiesWith(t, approvalRows), "--decision-log", "required")
	token, user := tokenFor(t, g, admin, bothScopes), g.UserToken(t, admin)
	list := g.URL + "/api/v1/accounts/" + account + "/users/" + admin + "/approvals"
	send := func() string {
		_, text := raw(t, g, path, token, callWith(merge, `{"q":"personal-text"}`), modern("tools/call", merge)...)
		return text
	}
	id := between(send(), `"access_request":{"id":"`)
	if r := harness.Call(t, "PATCH", list+"/"+id, user, `{"status":"APPROVED"}`); r.Status != 200 {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
	if text := send(); !strings.Contains(text, "late") || calls.Load() != 1 {
		t.Errorf("%d calls: %s", calls.Load(), text)
	}
	if r := harness.Call(t, "GET", list, user, ""); fmt.Sprint(harness.At(r.Body, "total_count")) != "1" {
		t.Errorf("%s", r.Raw)
	}
	log := harness.Call(t, "GET", g.URL+"/api/v1/accounts/"+account+"/decisions?page_size=100", user, "")
	if text := string(log.Raw); strings.Count(text, `"approval":"`+id+`"`) != 1 || strings.Contains(text, "personal-text") {
		t.Errorf("%s", text)
	}
}

// TestADenialLinksAConsoleElsewhere guarantees the link to the page of a console in a process of its own.
func TestADenialLinksAConsoleElsewhere(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	g := startOn(t, u.url, policiesWith(t, approvalRows), "--console-url", "https://Console.Example:443")
	_, text := raw(t, g, path, tokenFor(t, g, admin, bothScopes), callWith(merge, "{}"), modern("tools/call", merge)...)
	id := between(text, `"access_request":{"id":"`)
	if link := "https://console.example/approvals/" + id; id == "" || between(text, `"url":"`) != link || !strings.Contains(text, "decide it at "+link) {
		t.Error(text)
	}
}
