package mcp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// apiToken is the admin's for the API, with these claims.
func (s *agentScene) apiToken(t *testing.T, claims jwt.MapClaims) string {
	t.Helper()
	return s.provider.Token(t, harness.OutsideAdmin, func(c jwt.MapClaims) {
		for name, value := range claims {
			c[name] = value
		}
	})
}

// helping are the claims of a token by which the helper acts for the user.
var helping = jwt.MapClaims{"act": map[string]any{"sub": "helper"}, "scope": "mcp:read"}

// takeovers are calls by which an agent would get what its user has, or would free itself from its ceiling.
func takeovers(agent string) [][3]string {
	users := "/users/" + harness.OutsideAdmin
	return [][3]string{
		{"POST", users + "/keys", `{"key_name":"k","scopes":["read","write"]}`},
		{"PATCH", "/agents/" + agent, `{"status":"ACTIVE"}`},
		{"PUT", "/roles/project_admin/assignments/" + agent, `{"assigneeType":"AGENT","projectId":"proj-outside-v1"}`},
		{"PUT", "/roles/account_admin/assignments/" + reader, `{}`},
		{"PUT", users + "/delegations/" + agent, `{"permissions":["*:*:*"]}`},
	}
}

// asks is how the gateway answers a question of the token's caller about the caller, at each door for questions.
func (s *agentScene) asks(t *testing.T, token, user string) map[string]int {
	t.Helper()
	named := []string{"x-user-id", user, "x-account-id", harness.OutsideAccount, "x-action", "account:user:read"}
	place := "accounts/" + harness.OutsideAccount
	entity := fmt.Sprintf(`{"type":"path","id":%q,"properties":{"account_id":%q}}`, place, harness.OutsideAccount)
	subject, action := fmt.Sprintf(`"subject":{"type":"user","id":%q}`, user), `"action":{"name":"account:user:read"}`
	tuple := `{` + subject + `,` + action + `,"resource":` + entity
	return map[string]int{
		"authorize":   harness.Call(t, "POST", s.URL+"/api/v1/authorize/"+place, token, "", named...).Status,
		"explain":     harness.Call(t, "POST", s.URL+"/api/v1/explain/"+place, token, "", named...).Status,
		"evaluation":  harness.Call(t, "POST", s.URL+"/access/v1/evaluation", token, tuple+`}`).Status,
		"evaluations": harness.Call(t, "POST", s.URL+"/access/v1/evaluations", token, tuple+`,"evaluations":[{}]}`).Status,
		"who":         harness.Call(t, "POST", s.URL+"/access/v1/search/subject", token, `{"subject":{"type":"user"},`+action+`,"resource":`+entity+`}`).Status,
		"what":        harness.Call(t, "POST", s.URL+"/access/v1/search/action", token, `{`+subject+`,"resource":`+entity+`}`).Status,
		"preview":     harness.Call(t, "POST", s.URL+outsideOwner+"/preview", token, `{"changes":[{"kind":"assign","role":"account_reader","user_id":"`+stranger+`"}]}`).Status,
	}
}

// TestAnAgentAtTheAPIIsHeldToItsCeiling guarantees that a token with an actor gives an agent no more at the API than at a
// server: nothing without registration, an active status, a delegation and roles, and then what all of them cover.
func TestAnAgentAtTheAPIIsHeldToItsCeiling(t *testing.T) {
	t.Parallel()
	s := newAgentScene(t, agentRows)
	id := "agent-absent-v1"
	refused := func(title string, calls ...[3]string) {
		t.Helper()
		for _, c := range calls {
			r := harness.Call(t, c[0], s.URL+outsideOwner+c[1], s.apiToken(t, helping), c[2])
			if r.Status != 403 || !strings.Contains(string(r.Raw), "agent") {
				t.Errorf("%s: %s %s: %d %s", title, c[0], c[1], r.Status, r.Raw)
			}
		}
	}
	reads := [][3]string{{"GET", "/users", ""}, {"GET", "/roles", ""}}
	personal := [][3]string{{"GET", "/users/" + harness.OutsideAdmin + "/profile", ""}, {"GET", "", ""}, {"GET", "/users/" + harness.OutsideAdmin + "/approvals", ""}}
	all := func(title string, reading ...[3]string) {
		t.Helper()
		refused(title, takeovers(id)...)
		refused(title, personal...)
		refused(title, reading...)
		for door, status := range s.asks(t, s.apiToken(t, helping), harness.OutsideAdmin) {
			if status != 403 {
				t.Errorf("%s: %s: %d", title, door, status)
			}
		}
	}
	all("unregistered", reads...)
	id = s.register(t, "helper")
	delegation := "/users/" + harness.OutsideAdmin + "/delegations/" + id
	all("without a delegation", reads...)
	s.api(t, 200, "PUT", delegation, `{"permissions":["account:user:read"]}`)
	all("without a role", reads...)
	s.api(t, 200, "PUT", "/roles/account_admin/assignments/"+id, `{"assigneeType":"AGENT"}`)
	if r := harness.Call(t, "GET", s.URL+outsideOwner+"/users", s.apiToken(t, helping), ""); r.Status != 200 {
		t.Errorf("a delegated read: %d %s", r.Status, r.Raw)
	}
	all("beyond its delegation", reads[1])
	s.api(t, 200, "PUT", delegation, `{"permissions":["account:user:*","account:role:read"],"project_id":"proj-outside-v1"}`)
	all("a delegation in a project", reads...)
	s.api(t, 200, "PUT", delegation, `{"permissions":["*:*:*"]}`)
	s.api(t, 200, "PATCH", "/agents/"+id, `{"status":"SUSPENDED"}`)
	all("suspended", reads...)
}

// TestAnAgentThatMayDoAllGrantsNothing guarantees that a delegation of everything, to an agent with all roles, lets it call
// the API, and lets it neither grant permissions nor make the user's own calls.
func TestAnAgentThatMayDoAllGrantsNothing(t *testing.T) {
	t.Parallel()
	s := newAgentScene(t, agentRows)
	id, other := s.register(t, "helper"), s.register(t, "other")
	for _, agent := range []string{id, other} {
		s.api(t, 200, "PUT", "/roles/account_admin/assignments/"+agent, `{"assigneeType":"AGENT"}`)
	}
	s.api(t, 200, "PATCH", "/agents/"+other, `{"status":"SUSPENDED"}`)
	s.api(t, 200, "PUT", "/users/"+harness.OutsideAdmin+"/delegations/"+id, `{"permissions":["*:*:*"]}`)
	group, _ := harness.At(s.api(t, 201, "POST", "/groups", `{"name":"admins"}`).Body, "group", "id").(string)
	s.api(t, 200, "PUT", "/roles/account_admin/assignments/"+group, `{"assigneeType":"IAMGROUP"}`)
	token := s.apiToken(t, helping)
	call := func(method, rest, body string) harness.Reply {
		t.Helper()
		return harness.Call(t, method, s.URL+outsideOwner+rest, token, body)
	}
	for _, c := range append(takeovers(other),
		[3]string{"POST", "/roles", `{"name":"more","scope":"ACCOUNT","permissions":["account:user:read"]}`},
		[3]string{"PUT", "/groups/" + group + "/members/" + stranger, ""},
		[3]string{"PATCH", "/agents/" + other, `{"clients":[]}`},
	) {
		if r := call(c[0], c[1], c[2]); r.Status != 403 || !strings.Contains(string(r.Raw), "gent") {
			t.Errorf("%s %s: %d %s", c[0], c[1], r.Status, r.Raw)
		}
	}
	for _, c := range [][3]string{{"GET", "/users", ""}, {"GET", "/agents", ""}, {"PATCH", "/agents/" + other, `{"name":"renamed"}`}, {"GET", "/projects", ""}} {
		if r := call(c[0], c[1], c[2]); r.Status != 200 {
			t.Errorf("%s %s: %d %s", c[0], c[1], r.Status, r.Raw)
		}
	}
	for door, status := range s.asks(t, token, harness.OutsideAdmin) {
		if status != 200 {
			t.Errorf("%s: %d", door, status)
		}
	}
}

// TestAProxysCallOfAnAgentIsHeldToItsCeiling guarantees the same for calls about which a proxy asks, and at places in
// projects.
func TestAProxysCallOfAnAgentIsHeldToItsCeiling(t *testing.T) {
	t.Parallel()
	s := newAgentScene(t, agentRows)
	groups := outsideOwner + "/projects/proj-outside-v1/security-groups"
	asked := func(path string) (status [2]int) {
		t.Helper()
		token := s.apiToken(t, helping)
		status[0] = harness.Call(t, "GET", s.URL+"/verify"+path, token, "").Status
		status[1] = harness.Call(t, "GET", s.URL+"/forward-auth", token, "", "X-Original-Method", "GET", "X-Original-URI", path).Status
		return status
	}
	if got := asked(groups); got != [2]int{403, 403} {
		t.Errorf("unregistered: %v", got)
	}
	id := s.register(t, "helper")
	s.api(t, 200, "PUT", "/roles/project_reader/assignments/"+id, `{"assigneeType":"AGENT","projectId":"proj-outside-v1"}`)
	s.api(t, 200, "PUT", "/users/"+harness.OutsideAdmin+"/delegations/"+id, `{"permissions":["project:*:read"],"project_id":"proj-outside-v1"}`)
	for path, want := range map[string]int{groups: 200, outsideOwner + "/users": 403, outsideOwner + "/users/" + harness.OutsideAdmin + "/profile": 403, "/openapi.json": 200} {
		if got := asked(path); got != [2]int{want, want} {
			t.Errorf("%s: %v", path, got)
		}
	}
	token := s.apiToken(t, helping)
	for method, want := range map[string]int{"GET": 200, "POST": 403} {
		body := ""
		if method == "POST" {
			body = `{"name":"g"}`
		}
		r := harness.Call(t, method, s.URL+groups, token, body, "x-account-id", harness.OutsideAccount, "x-user-id", harness.OutsideAdmin)
		if r.Status != want {
			t.Errorf("%s: %d %s", method, r.Status, r.Raw)
		}
	}
}

// TestAnAgentReadsNothingAtThePrivateListener guarantees it for an agent with a delegation of everything, and that the
// refusal says why.
func TestAnAgentReadsNothingAtThePrivateListener(t *testing.T) {
	t.Parallel()
	s := ownAgentScene(t, "--decision-log", "required")
	id := s.register(t, "helper")
	s.api(t, 200, "PUT", "/roles/account_admin/assignments/"+id, `{"assigneeType":"AGENT"}`)
	s.api(t, 200, "PUT", "/users/"+harness.OutsideAdmin+"/delegations/"+id, `{"permissions":["*:*:*"]}`)
	for want, claims := range map[int]jwt.MapClaims{200: {"azp": "helper"}, 403: helping} {
		r := harness.Call(t, "GET", s.HealthURL+"/decisions?since=1h", s.apiToken(t, claims), "")
		if r.Status != want || want == 403 && !strings.Contains(string(r.Raw), "an agent can't make this call") {
			t.Errorf("%v: %d %s", claims, r.Status, r.Raw)
		}
	}
}

// TestAUsersOwnTokenHasNoCeiling guarantees that the API takes a user's token without an actor as before: without a client,
// with one, and with an agent's.
func TestAUsersOwnTokenHasNoCeiling(t *testing.T) {
	t.Parallel()
	s := newAgentScene(t, agentRows)
	id := s.register(t, "helper")
	s.api(t, 200, "PATCH", "/agents/"+id, `{"status":"SUSPENDED"}`)
	for name, claims := range map[string]jwt.MapClaims{
		"no client": nil, "azp": {"azp": "helper"}, "client_id": {"client_id": "helper"}, "another azp": {"azp": "web", "scope": "openid"},
	} {
		token := s.apiToken(t, claims)
		for _, rest := range []string{"/users", "/roles", "/users/" + harness.OutsideAdmin + "/profile"} {
			if r := harness.Call(t, "GET", s.URL+outsideOwner+rest, token, ""); r.Status != 200 {
				t.Errorf("%s: %s: %d %s", name, rest, r.Status, r.Raw)
			}
		}
		c := takeovers(id)[0]
		if r := harness.Call(t, c[0], s.URL+outsideOwner+c[1], token, c[2]); r.Status != 201 {
			t.Errorf("%s: a key: %d %s", name, r.Status, r.Raw)
		}
		for door, status := range s.asks(t, token, harness.OutsideAdmin) {
			if status != 200 {
				t.Errorf("%s: %s: %d", name, door, status)
			}
		}
	}
}
