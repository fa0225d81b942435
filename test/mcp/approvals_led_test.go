package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// leading are the capabilities of a client that can lead its user to a URL.
const leading = `{"elicitation":{"url":{}}}`

// led is a call of a client with capabilities.
func led(capabilities, tool, params string) string {
	return strings.Replace(request("tools/call", `"name":"`+tool+`",`+params), `Capabilities":{}`, `Capabilities":`+capabilities, 1)
}

// input is the client's input about an approval.
func input(id, action string) string {
	return `"portcullis/approval/` + id + `":{"action":"` + action + `"}`
}

// ledScene is a gateway with a console, in front of a server that records calls. The reader may call the tool.
type ledScene struct {
	*harness.Gateway
	policies, token, user, list, role string

	bodies chan string
}

func newLedScene(t *testing.T, args ...string) *ledScene {
	t.Helper()
	s := &ledScene{bodies: make(chan string, 10)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // the test compares it
		var call struct{ ID json.RawMessage }
		_ = json.Unmarshal(body, &call)
		s.bodies <- string(body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","content":[{"type":"text","text":"done %s"}]}}`, call.ID, merge)
	}))
	t.Cleanup(server.Close)
	s.policies = policiesWith(t, approvalRows)
	s.Gateway = startOn(t, server.URL, s.policies, args...)
	s.token, s.user = tokenFor(t, s.Gateway, reader, bothScopes), s.UserToken(t, reader)
	s.list = s.URL + "/api/v1/accounts/" + account + "/users/" + reader + "/approvals"
	s.role = s.URL + "/api/v1/accounts/" + account + "/roles/project_admin/assignments/" + reader
	s.assign(t, http.MethodPut)
	return s
}

const withConsole = "--console-url"

// assign gives or takes the reader's role.
func (s *ledScene) assign(t *testing.T, method string) {
	t.Helper()
	address, body := s.role, `{"projectId":"`+project+`"}`
	if method == http.MethodDelete {
		address, body = address+"?projectId="+project, ""
	}
	if r := harness.Call(t, method, address, s.UserToken(t, admin), body); r.Status != 200 {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
}

func (s *ledScene) decide(t *testing.T, id, status string) {
	t.Helper()
	if r := harness.Call(t, "PATCH", s.list+"/"+id, s.user, `{"status":"`+status+`"}`); r.Status != 200 {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
}

func (s *ledScene) status(t *testing.T, id string) string {
	t.Helper()
	status, _ := harness.At(harness.Call(t, "GET", s.list+"/"+id, s.user, "").Body, "approval", "status").(string)
	return status
}

func (s *ledScene) send(t *testing.T, body string) string {
	t.Helper()
	_, text := raw(t, s.Gateway, path, s.token, body, modern("tools/call", merge)...)
	return text
}

// retry sends the retry of a call in the background. The answer comes over the channel.
func (s *ledScene) retry(ctx context.Context, inputs string) <-chan string {
	answer := make(chan string, 1)
	body := led(leading, merge, `"arguments":{"q":"x"},"inputResponses":{`+inputs+`}`)
	go func() {
		resp, err := post(ctx, s.Gateway, path, s.token, body, modern("tools/call", merge)...)
		if err != nil {
			answer <- err.Error()
			return
		}
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		answer <- string(text)
	}()
	return answer
}

// waiting fails the test if the answer is there already.
func waiting(t *testing.T, answer <-chan string) {
	t.Helper()
	select {
	case text := <-answer:
		t.Fatalf("answered before the decision: %s", text)
	case <-time.After(1200 * time.Millisecond): // the door looks twice meanwhile
	}
}

// lead sends the first call and returns the id of the request to which the client leads its user.
func (s *ledScene) lead(t *testing.T) string {
	t.Helper()
	text := s.send(t, led(leading, merge, `"arguments":{"q":"x"}`))
	id := between(text, `"access_request":{"id":"`)
	key, page := `"inputRequests":{"portcullis/approval/`+id+`":{"method":"elicitation/create","params":{"mode":"url"`, `"url":"https://console.example/approvals/`+id+`","elicitationId":`
	if id == "" || !strings.Contains(text, `"resultType":"input_required"`) || !strings.Contains(text, key) || !strings.Contains(text, page) {
		t.Fatalf("%s", text)
	}
	return id
}

// TestALedUserDecidesWhileTheCallWaits guarantees that the retry waits for the user's decision: the approved call goes out,
// without the client's input, and a declined one is denied. The wait is not another call in the log.
func TestALedUserDecidesWhileTheCallWaits(t *testing.T) {
	t.Parallel()
	s := newLedScene(t, withConsole, "https://console.example", "--decision-log", "required")
	for _, status := range []string{"APPROVED", "DENIED"} {
		id := s.lead(t)
		answer := s.retry(t.Context(), input(id, "accept"))
		waiting(t, answer)
		s.decide(t, id, status)
		text := <-answer
		if status == "DENIED" {
			if !strings.Contains(text, "you have declined this call") || len(s.bodies) != 0 {
				t.Errorf("%d calls, %s", len(s.bodies), text)
			}
			continue
		}
		if !strings.Contains(text, "done "+merge) || len(s.bodies) != 1 {
			t.Fatalf("%d calls, %s", len(s.bodies), text)
		}
		if sent := <-s.bodies; strings.Contains(sent, "inputResponses") || strings.Contains(sent, "portcullis") || !strings.Contains(sent, `"arguments":{"q":"x"}`) {
			t.Errorf("sent %s", sent)
		}
	}
	log := harness.Call(t, "GET", s.URL+"/api/v1/accounts/"+account+"/decisions?path=mcp/call&page_size=100", s.UserToken(t, admin), "")
	if n := strings.Count(string(log.Raw), `"path":"mcp/call"`); n != 4 { // two calls with a retry each
		t.Errorf("%d records: %s", n, log.Raw)
	}
}

// TestAWaitingCallIsJudgedAnew guarantees that what has ended during the wait denies the approved call: a role, or a row of the
// policy. The approval is not used.
func TestAWaitingCallIsJudgedAnew(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*testing.T, *ledScene){
		"a role": func(t *testing.T, s *ledScene) { s.assign(t, http.MethodDelete) },
		"a row": func(t *testing.T, s *ledScene) {
			harness.WriteFile(t, filepath.Join(s.policies, "mcp", "issues", "data.json"), strings.Replace(rows, merge, "other", 1))
			harness.Soon(t, "the row has gone", func() bool {
				return strings.Contains(s.send(t, callWith(merge, `{"q":"y"}`)), `"code":"no_role"`)
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newLedScene(t, withConsole, "https://console.example")
			id := s.lead(t)
			answer := s.retry(t.Context(), input(id, "accept"))
			waiting(t, answer)
			end(t, s)
			s.decide(t, id, "APPROVED")
			if text := <-answer; !strings.Contains(text, `"code":"no_role"`) || len(s.bodies) != 0 || s.status(t, id) != "APPROVED" {
				t.Errorf("%d calls, %s %s", len(s.bodies), s.status(t, id), text)
			}
		})
	}
}

// TestAWaitingCallEndsWithItsClient guarantees that an approval sends no call after its client has gone.
func TestAWaitingCallEndsWithItsClient(t *testing.T) {
	t.Parallel()
	s := newLedScene(t, withConsole, "https://console.example")
	id := s.lead(t)
	ctx, leave := context.WithCancel(t.Context())
	answer := s.retry(ctx, input(id, "accept"))
	waiting(t, answer)
	leave()
	<-answer
	time.Sleep(time.Second) // within which the door notices it
	s.decide(t, id, "APPROVED")
	time.Sleep(1200 * time.Millisecond)
	if len(s.bodies) != 0 || s.status(t, id) != "APPROVED" {
		t.Errorf("%d calls, the approval is %s", len(s.bodies), s.status(t, id))
	}
}

// TestATokenThatEndsDuringTheWaitIsRefused guarantees it for an approved call. The approval is not used.
func TestATokenThatEndsDuringTheWaitIsRefused(t *testing.T) {
	t.Parallel()
	const issues = "/mcp/issues"
	u := newUpstream(t, true)
	provider := harness.NewIdentityProvider(t, "https://login.example", "k1")
	g := harness.OutsideGateway(t, "--jwt-issuer", "https://login.example", "--jwt-audience", provider.Audience, "--jwks-file", harness.TempFile(t, "jwks.json", provider.Jwks()),
		"--public-url", publicURL, "--policy-dir", policiesWith(t, approvalRows), "--upstream", "github="+u.url, withConsole, "https://console.example")
	end := time.Now().Add(4 * time.Second).Truncate(time.Second)
	token := provider.Token(t, harness.OutsideAdmin, func(c jwt.MapClaims) {
		c["aud"], c["scope"], c["exp"] = publicURL+issues, bothScopes, end.Add(-30*time.Second).Unix() // the gateway allows for 30 s
		delete(c, "iat")
		delete(c, "nbf")
	})
	_, text := raw(t, g, issues, token, led(leading, merge, `"arguments":{"q":"x"}`), modern("tools/call", merge)...)
	id := between(text, `"access_request":{"id":"`)
	time.AfterFunc(time.Until(end.Add(time.Second)), func() {
		if r := harness.Call(t, "PATCH", g.URL+outsideOwner+approvals+"/"+id, provider.Token(t, harness.OutsideAdmin), `{"status":"APPROVED"}`); r.Status != 200 {
			t.Errorf("%d %s", r.Status, r.Raw)
		}
	})
	resp, text := raw(t, g, issues, token, led(leading, merge, `"arguments":{"q":"x"},"inputResponses":{`+input(id, "accept")+`}`), modern("tools/call", merge)...)
	r := harness.Call(t, "GET", g.URL+outsideOwner+approvals+"/"+id, provider.Token(t, harness.OutsideAdmin), "")
	if resp.StatusCode != 401 || time.Now().Before(end) || len(u.called()) != 0 || harness.At(r.Body, "approval", "status") != "APPROVED" {
		t.Errorf("%d %s, %d calls, %s", resp.StatusCode, text, len(u.called()), r.Raw)
	}
}

// TestAnInputApprovesNothing guarantees that no input of a client is a decision: not its consent to open the page, nor one for
// another user's or an unknown request. Such a retry is denied at once, and leads nobody again.
func TestAnInputApprovesNothing(t *testing.T) {
	t.Parallel()
	s := newLedScene(t, withConsole, "https://console.example")
	id := s.lead(t)
	_, denial := raw(t, s.Gateway, path, tokenFor(t, s.Gateway, admin, bothScopes), led(leading, merge, `"arguments":{"q":"x"}`), modern("tools/call", merge)...)
	foreign := between(denial, `"access_request":{"id":"`)
	for name, inputs := range map[string]string{
		"declined": input(id, "decline"), "without action": `"portcullis/approval/` + id + `":{}`, "no object": `"portcullis/approval/` + id + `":true`,
		"unknown": input("approval-unknown-v1", "accept"), "of another user": input(foreign, "accept"), "without id": input("", "accept"),
		"two": input(id, "accept") + "," + input(foreign, "accept"),
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // a wait takes 50
		text := <-s.retry(ctx, inputs)
		cancel()
		if !strings.Contains(text, `"code":-32001`) || between(text, `"access_request":{"id":"`) != id || foreign == "" || len(s.bodies) != 0 {
			t.Errorf("%s: %d calls, %s", name, len(s.bodies), text)
		}
	}
}

// TestOnlySomeClientsLeadTheirUser guarantees the error for clients that can't, for answers to a server's question, and without
// a console.
func TestOnlySomeClientsLeadTheirUser(t *testing.T) {
	t.Parallel()
	s, bare := newLedScene(t, withConsole, "https://console.example"), newLedScene(t)
	const plain = `"arguments":{"q":"x"}`
	id := s.lead(t)
	for name, body := range map[string]string{
		"without capabilities": led(`{}`, merge, plain), "forms alone": led(`{"elicitation":{"form":{}}}`, merge, plain), "another type": led(`{"elicitation":{"url":true}}`, merge, plain),
		"another case": led(`{"elicitation":{"URL":{}}}`, merge, plain), "an answer": led(leading, merge, plain+`,"inputResponses":{"sure":{"action":"accept"}}`),
		"a state": led(leading, merge, plain+`,"requestState":"s"`), "an answer beside": led(leading, merge, plain+`,"inputResponses":{"sure":{"action":"accept"},`+input(id, "decline")+`}`),
	} {
		if text := s.send(t, body); !strings.Contains(text, `"code":-32001`) || !strings.Contains(text, "https://console.example/approvals/") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if text := bare.send(t, led(leading, merge, plain)); !strings.Contains(text, `"code":-32001`) {
		t.Errorf("without a console: %s", text)
	}
	if n := len(s.bodies) + len(bare.bodies); n != 0 {
		t.Errorf("the server was called %d times", n)
	}
}

// TestOfficialClientsLeadTheirUser guarantees one call for the application, with the official clients for Go and TypeScript: the
// client opens the page, the user approves, the result comes.
func TestOfficialClientsLeadTheirUser(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	g := startOn(t, u.url, policiesWith(t, approvalRows), withConsole, "https://console.example")
	token, user := tokenFor(t, g, admin, bothScopes), g.UserToken(t, admin)
	list := g.URL + "/api/v1/accounts/" + account + "/users/" + admin + "/approvals"
	t.Run("Go", func(t *testing.T) {
		client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, &mcp.ClientOptions{
			Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}}},
			ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				id, ok := strings.CutPrefix(r.Params.URL, "https://console.example/approvals/")
				if !ok || r.Params.Mode != "url" {
					t.Errorf("%+v", r.Params)
				}
				time.AfterFunc(700*time.Millisecond, func() { // the user has opened the page before deciding
					if r := harness.Call(t, "PATCH", list+"/"+id, user, `{"status":"APPROVED"}`); r.Status != 200 {
						t.Errorf("%d %s", r.Status, r.Raw)
					}
				})
				return &mcp.ElicitResult{Action: "accept"}, nil
			},
		})
		session := must.Get(client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: g.URL + path, HTTPClient: &http.Client{Transport: bearer{token}}}, nil))(t)
		defer func() { must.Do(t, session.Close()) }()
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: merge, Arguments: map[string]any{"q": "go"}})
		if err != nil || result.IsError || len(u.called()) != 1 {
			t.Fatalf("%v %+v %v", err, result, u.called())
		}
	})
	t.Run("TypeScript", func(t *testing.T) {
		got := typescriptClientWith(t, []string{"APPROVALS=" + list, "APPROVER=" + user}, g.URL+path, token, "auto", [2]any{merge, map[string]any{"q": "ts"}})
		if one := got.Calls[merge]; one.Error != nil || len(one.Result.Content) != 1 || one.Result.Content[0].Text != "done "+merge || len(u.called()) != 2 {
			t.Errorf("%+v %v", got, u.called())
		}
	})
}
