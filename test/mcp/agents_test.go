package mcp_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// agentScene is a gateway with an outside issuer, whose tokens can name a client, before a server for registered agents.
type agentScene struct {
	*harness.Gateway
	u        *upstream
	provider *harness.IdentityProvider
	flags    []string // with which the gateway is started again
}

// agentRows need a delegation.
var agentRows = strings.Replace(rows, `"agents": "any", "consent": "not_required"`, `"agents": "registered", "consent": "required"`, 1)

func newAgentScene(t *testing.T, row string) *agentScene {
	t.Helper()
	return newAgentSceneOn(t, policiesWith(t, row))
}

func newAgentSceneOn(t *testing.T, policies string) *agentScene {
	t.Helper()
	u := newUpstream(t, true)
	provider := harness.NewIdentityProvider(t, "https://login.example", "k1")
	dir := t.TempDir()
	harness.Seed(t, dir, harness.OutsideAccount, "proj-outside-v1",
		harness.Member{ID: harness.OutsideAdmin, Roles: []string{"account_admin"}}, harness.Member{ID: reader, Roles: []string{"account_reader"}}, harness.Member{ID: stranger})
	flags := []string{
		"--jwt-issuer", "https://login.example", "--jwt-audience", provider.Audience, "--jwks-file", harness.TempFile(t, "jwks.json", provider.Jwks()),
		"--public-url", publicURL, "--policy-dir", policies, "--upstream", "github=" + u.url,
	}
	return &agentScene{harness.StartIn(t, dir, flags...), u, provider, flags}
}

const (
	agentPath    = "/mcp/projects/proj-outside-v1/issues"
	outsideOwner = "/api/v1/accounts/" + harness.OutsideAccount
)

// token is the admin's, through a client.
func (s *agentScene) token(t *testing.T, client string, change ...func(jwt.MapClaims)) string {
	t.Helper()
	return s.provider.Token(t, harness.OutsideAdmin, append([]func(jwt.MapClaims){func(c jwt.MapClaims) {
		c["aud"], c["scope"] = publicURL+agentPath, bothScopes
		if client != "" {
			c["client_id"] = client
		}
	}}, change...)...)
}

// api calls the API as the admin, without a client.
func (s *agentScene) api(t *testing.T, status int, method, rest, body string) harness.Reply {
	t.Helper()
	r := harness.Call(t, method, s.URL+outsideOwner+rest, s.provider.Token(t, harness.OutsideAdmin), body)
	if r.Status != status {
		t.Fatalf("%s %s: %d %s", method, rest, r.Status, r.Raw)
	}
	return r
}

// register makes an agent of the client, and returns its id.
func (s *agentScene) register(t *testing.T, client string) string {
	t.Helper()
	r := s.api(t, 201, "POST", "/agents", fmt.Sprintf(`{"name":%q,"clients":[{"issuer":"https://login.example","client_id":%q}]}`, client, client))
	id, _ := harness.At(r.Body, "agent", "id").(string)
	return id
}

// call calls a tool and returns the code of the denial, or "" for a call that the server answered.
func (s *agentScene) call(t *testing.T, token, tool string) string {
	t.Helper()
	before := len(s.u.called())
	_, text := raw(t, s.Gateway, agentPath, token, call(tool), modern("tools/call", tool)...)
	made := len(s.u.called()) - before
	if strings.Contains(text, "done "+tool) {
		if made != 1 {
			t.Errorf("%s was called %d times", tool, made)
		}
		return ""
	}
	if made != 0 {
		t.Errorf("%s was called, and answered %s", tool, text)
	}
	_, rest, _ := strings.Cut(text, `"code":"`)
	code, _, denied := strings.Cut(rest, `"`)
	if !denied {
		t.Fatalf("%s: %s", tool, text)
	}
	return code
}

// TestAnAgentNeedsEveryPart guarantees that an agent's call needs registration, an active status, a role of the agent, and
// a delegation of the user. Each is in force with the answer that gives or ends it.
func TestAnAgentNeedsEveryPart(t *testing.T) {
	t.Parallel()
	s := newAgentScene(t, agentRows)
	const tool = "search_issues"
	token := s.token(t, "helper")
	want := func(code string) {
		t.Helper()
		if got := s.call(t, token, tool); got != code {
			t.Errorf("denied by %q, want %q", got, code)
		}
		if got := s.call(t, s.token(t, ""), tool); got != "" {
			t.Errorf("the user alone is denied by %q", got)
		}
	}
	want("needs_registered_agent")
	id := s.register(t, "helper")
	want("needs_delegation")
	delegation, role := "/users/"+harness.OutsideAdmin+"/delegations/"+id, "/roles/project_reader/assignments/"+id
	delegate := func(body string) { s.api(t, 200, "PUT", delegation, body) }
	delegate(`{"permissions":["project:github_pull:*"]}`)
	want("needs_delegation")
	delegate(`{"permissions":["project:github_issue:read"]}`)
	want("needs_agent_role")
	s.api(t, 200, "PUT", role, `{"assigneeType":"AGENT","projectId":"proj-outside-v1"}`)
	want("")
	if got := s.call(t, token, "merge_pull_request"); got != "needs_delegation" {
		t.Errorf("a tool that is not delegated: %q", got)
	}
	delegate(`{"permissions":["*:*:*"]}`)
	if got := s.call(t, token, "merge_pull_request"); got != "needs_agent_role" {
		t.Errorf("a tool beyond the agent's roles: %q", got)
	}
	s.api(t, 200, "PATCH", "/agents/"+id, `{"status":"SUSPENDED"}`)
	want("needs_active_agent")
	s.api(t, 200, "PATCH", "/agents/"+id, `{"status":"ACTIVE"}`)
	want("")
	s.api(t, 200, "DELETE", role+"?assigneeType=AGENT&projectId=proj-outside-v1", "")
	want("needs_agent_role")
	s.api(t, 200, "PUT", role, `{"assigneeType":"AGENT","projectId":"proj-outside-v1"}`)
	want("")
	s.api(t, 200, "DELETE", delegation, "")
	want("needs_delegation")
	delegate(`{"permissions":["project:*:read"]}`)
	want("")
	s.api(t, 200, "PATCH", "/agents/"+id, `{"clients":[]}`)
	want("needs_registered_agent")
	s.api(t, 200, "PATCH", "/agents/"+id, `{"clients":[{"issuer":"https://login.example","client_id":"helper"}]}`)
	want("")
	s.api(t, 200, "DELETE", "/agents/"+id, "")
	want("needs_registered_agent")
}

// TestTheOutermostActorIsTheAgent guarantees that `act.sub` goes before `client_id`. Nested actors count for nothing.
func TestTheOutermostActorIsTheAgent(t *testing.T) {
	t.Parallel()
	s := newAgentScene(t, strings.Replace(agentRows, `"consent": "required"`, `"consent": "not_required"`, 1))
	id := s.register(t, "outer")
	s.api(t, 200, "PUT", "/roles/project_reader/assignments/"+id, `{"assigneeType":"AGENT","projectId":"proj-outside-v1"}`)
	act := func(outer, inner string) string {
		return s.token(t, "other", func(c jwt.MapClaims) {
			c["act"] = map[string]any{"sub": outer, "act": map[string]any{"sub": inner}}
		})
	}
	for want, token := range map[string]string{"": act("outer", "unknown"), "needs_registered_agent": act("unknown", "outer")} {
		if got := s.call(t, token, "search_issues"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	// A client that acts for the user gives no delegation.
	r := harness.Call(t, "PUT", s.URL+outsideOwner+"/users/"+harness.OutsideAdmin+"/delegations/"+id, s.provider.Token(t, harness.OutsideAdmin, func(c jwt.MapClaims) { c["client_id"] = "outer" }), `{"permissions":["*:*:*"]}`)
	harness.WantRefusal(t, r, 403, "FORBIDDEN")
}

// TestAnAgentsStreamEnds guarantees the end of an agent's open stream within a second of the answer to a suspension, to
// the end of the delegation, or to the revoke of the agent's role. The user's own stream goes on.
func TestAnAgentsStreamEnds(t *testing.T) {
	t.Parallel()
	s := newAgentScene(t, agentRows)
	id := s.register(t, "helper")
	delegation, role := "/users/"+harness.OutsideAdmin+"/delegations/"+id, "/roles/project_admin/assignments/"+id
	give := func() {
		s.api(t, 200, "PUT", role, `{"assigneeType":"AGENT","projectId":"proj-outside-v1"}`)
		s.api(t, 200, "PUT", delegation, `{"permissions":["*:*:*"]}`)
		s.api(t, 200, "PATCH", "/agents/"+id, `{"status":"ACTIVE"}`)
	}
	for name, end := range map[string]func(){
		"suspended":      func() { s.api(t, 200, "PATCH", "/agents/"+id, `{"status":"SUSPENDED"}`) },
		"not delegated":  func() { s.api(t, 200, "DELETE", delegation, "") },
		"without a role": func() { s.api(t, 200, "DELETE", role+"?assigneeType=AGENT&projectId=proj-outside-v1", "") },
	} {
		give()
		agents, users := listen(t, s.Gateway, agentPath, s.token(t, "helper")), listen(t, s.Gateway, agentPath, s.token(t, ""))
		select {
		case <-agents:
			t.Fatalf("%s: the stream has ended before", name)
		case <-time.After(1200 * time.Millisecond): // it is judged twice meanwhile
		}
		end()
		answered := time.Now()
		select {
		case ended := <-agents:
			if took := ended.Sub(answered); took > time.Second {
				t.Errorf("%s: the stream ended after %s", name, took)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s: the stream goes on", name)
		}
		select {
		case <-users:
			t.Errorf("%s: the user's own stream has ended", name)
		default:
		}
	}
}
