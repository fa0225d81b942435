package mcp_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// alonePath is the server's address in the agent's account.
const alonePath = "/mcp/accounts/" + harness.OutsideAccount + "/projects/proj-outside-v1/issues"

// alone is a token of a client for no user, for the server's address.
func (s *agentScene) alone(t *testing.T, client string, change ...func(jwt.MapClaims)) string {
	t.Helper()
	return s.provider.Token(t, client, append([]func(jwt.MapClaims){func(c jwt.MapClaims) {
		c["aud"], c["scope"], c["client_id"] = publicURL+alonePath, bothScopes, client
	}}, change...)...)
}

// aloneRows let agents call without a user.
var aloneRows = strings.Replace(agentRows, `"pin": "names"`, `"pin": "names", "autonomous": true`, 1)

// tells calls a tool alone, and returns the status with the code of a denial, or "200" for a call that the server answered.
func (s *agentScene) tells(t *testing.T, path, token, tool string) string {
	t.Helper()
	before := len(s.u.called())
	resp, text := raw(t, s.Gateway, path, token, call(tool), modern("tools/call", tool)...)
	made := len(s.u.called()) - before
	if (made == 1) != strings.Contains(text, "done "+tool) || made > 1 {
		t.Errorf("%s was called %d times, and answered %s", tool, made, text)
	}
	_, rest, _ := strings.Cut(text, `"code":"`)
	code, _, _ := strings.Cut(rest, `"`)
	if made == 1 || resp.StatusCode != 200 {
		code = ""
	}
	return strings.TrimSpace(fmt.Sprint(resp.StatusCode, " ", code))
}

// TestAnAgentAloneHasItsOwnRoles guarantees that an agent without a user may do what its roles grant: no delegation is
// needed. It must be registered and active. Each is in force with the answer that gives or ends it.
func TestAnAgentAloneHasItsOwnRoles(t *testing.T) {
	t.Parallel()
	s := newAgentScene(t, aloneRows)
	token := s.alone(t, "robot")
	want := func(answer string) {
		t.Helper()
		if got := s.tells(t, alonePath, token, "search_issues"); got != answer {
			t.Errorf("%s, want %s", got, answer)
		}
	}
	want("401")
	id := s.register(t, "robot")
	role := "/roles/project_reader/assignments/" + id
	want("200 no_role")
	s.api(t, 200, "PUT", role, `{"assigneeType":"AGENT","projectId":"proj-outside-v1"}`)
	want("200")
	_, records := export(t, s.Gateway)
	for _, path := range []string{"authz/decision", "mcp/call", "mcp/outcome"} {
		all := records[path]
		if len(all) == 0 {
			t.Fatalf("no record of %s", path)
		}
		last := all[len(all)-1]
		if last.By != id || path == "authz/decision" && (last.Input.Subject.ID != id || last.Input.Principal.Kind != "agent" || last.Result.Allow == nil || !*last.Result.Allow) {
			t.Errorf("%s: %+v", path, last)
		}
	}
	if got := s.tells(t, alonePath, token, "merge_pull_request"); got != "200 no_role" {
		t.Errorf("a tool beyond its roles: %s", got)
	}
	s.api(t, 200, "PATCH", "/agents/"+id, `{"status":"SUSPENDED"}`)
	want("401")
	s.api(t, 200, "PATCH", "/agents/"+id, `{"status":"ACTIVE"}`)
	want("200")
	s.api(t, 200, "PATCH", "/agents/"+id, `{"clients":[]}`)
	want("401")
	r := s.api(t, 201, "POST", "/agents", `{"name":"another","clients":[{"issuer":"https://login.example","client_id":"robot"}]}`)
	other, _ := harness.At(r.Body, "agent", "id").(string)
	want("200 no_role")
	s.api(t, 200, "DELETE", "/agents/"+other, "")
	s.api(t, 200, "PATCH", "/agents/"+id, `{"clients":[{"issuer":"https://login.example","client_id":"robot"}]}`)
	want("200")
	s.api(t, 200, "DELETE", role+"?assigneeType=AGENT&projectId=proj-outside-v1", "")
	want("200 no_role")
	s.api(t, 200, "DELETE", "/agents/"+id, "")
	want("401")
}

// TestOnlyAPlainClientIsAnAgentAlone guarantees 401 for tokens that look like an agent's: with an actor, of a client with
// another name than the subject, without a client, of another issuer, and at other addresses.
func TestOnlyAPlainClientIsAnAgentAlone(t *testing.T) {
	t.Parallel()
	s := newAgentScene(t, aloneRows)
	id := s.register(t, "robot")
	s.api(t, 200, "PUT", "/roles/project_admin/assignments/"+id, `{"assigneeType":"AGENT","projectId":"proj-outside-v1"}`)
	if got := s.tells(t, alonePath, s.alone(t, "robot", func(c jwt.MapClaims) { c["azp"] = c["client_id"]; delete(c, "client_id") }), "search_issues"); got != "200" {
		t.Errorf("by azp: %s", got)
	}
	for name, change := range map[string]func(jwt.MapClaims){
		"with an actor":         func(c jwt.MapClaims) { c["act"] = map[string]any{"sub": "robot"} },
		"with another actor":    func(c jwt.MapClaims) { c["act"] = map[string]any{"sub": "other"} },
		"another client":        func(c jwt.MapClaims) { c["client_id"] = "other" },
		"another subject":       func(c jwt.MapClaims) { c["sub"] = "other" },
		"without a client":      func(c jwt.MapClaims) { delete(c, "client_id") },
		"the agent's id":        func(c jwt.MapClaims) { c["sub"], c["client_id"] = id, id },
		"a service's name":      func(c jwt.MapClaims) { c["sub"], c["client_id"] = "service-robot", "service-robot" },
		"the gateway's address": func(c jwt.MapClaims) { c["aud"] = s.provider.Audience },
	} {
		got := s.tells(t, alonePath, s.alone(t, "robot", change), "search_issues")
		if want := map[bool]string{true: "403", false: "401"}[name == "a service's name"]; got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, path := range []string{"/mcp/issues", agentPath, "/mcp/accounts/acct-absent-v1/projects/proj-outside-v1/issues"} {
		audience := func(c jwt.MapClaims) { c["aud"] = publicURL + path }
		if got := s.tells(t, path, s.alone(t, "robot", audience), "search_issues"); got != "401" {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// TestAgentsAloneNeedTheServersWord guarantees 401 at servers without "autonomous": true.
func TestAgentsAloneNeedTheServersWord(t *testing.T) {
	t.Parallel()
	for rules, want := range map[string]string{
		agentRows: "401", strings.Replace(aloneRows, `"registered"`, `"any"`, 1): "200",
		strings.Replace(aloneRows, `"autonomous": true`, `"autonomous": false`, 1): "401",
	} {
		s := newAgentScene(t, rules)
		id := s.register(t, "robot")
		s.api(t, 200, "PUT", "/roles/project_admin/assignments/"+id, `{"assigneeType":"AGENT","projectId":"proj-outside-v1"}`)
		if got := s.tells(t, alonePath, s.alone(t, "robot"), "search_issues"); got != want {
			t.Errorf("%s: %s", rules, got)
		}
		if got := s.tells(t, alonePath, s.alone(t, "unknown"), "search_issues"); got != "401" {
			t.Errorf("%s, an unknown client: %s", rules, got)
		}
	}
}

// TestAUserGoesBeforeAnAgent guarantees that a token with a user as its subject is the user's, also if a client has the same
// name. A suspended user does not become an agent.
func TestAUserGoesBeforeAnAgent(t *testing.T) {
	t.Parallel()
	s := newAgentScene(t, strings.Replace(aloneRows, `"consent": "required"`, `"consent": "not_required"`, 1))
	id := s.register(t, stranger)
	s.api(t, 200, "PUT", "/roles/project_admin/assignments/"+id, `{"assigneeType":"AGENT","projectId":"proj-outside-v1"}`)
	token := s.alone(t, stranger)
	if got := s.tells(t, alonePath, token, "search_issues"); got != "200 no_role" {
		t.Errorf("a user without roles: %s", got)
	}
	if r := harness.Call(t, http.MethodPut, s.URL+"/api/v1/users/"+stranger, s.provider.Token(t, harness.OutsideAdmin), `{"status": "SUSPENDED"}`, "x-account-id", harness.OutsideAccount); r.Status != 200 {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
	if got := s.tells(t, alonePath, token, "search_issues"); got != "401" {
		t.Errorf("a suspended user: %s", got)
	}
}

// TestAnAgentAloneIsNobodyElsewhere guarantees 401 for its token at every other row of the catalogue, with the audience of
// the API and with the server's.
func TestAnAgentAloneIsNobodyElsewhere(t *testing.T) {
	t.Parallel()
	s := newAgentScene(t, aloneRows)
	id := s.register(t, "robot")
	s.api(t, 200, "PUT", "/roles/account_admin/assignments/"+id, `{"assigneeType":"AGENT"}`)
	file, err := os.ReadFile("../../policies/routes/data.json")
	if err != nil {
		t.Fatal(err)
	}
	var routes map[string]struct {
		Method, Path string
		Access       []string
	}
	if err := json.Unmarshal(file, &routes); err != nil {
		t.Fatal(err)
	}
	tokens := []string{s.alone(t, "robot"), s.alone(t, "robot", func(c jwt.MapClaims) { c["aud"] = s.provider.Audience })}
	tried := 0
	for _, name := range slices.Sorted(maps.Keys(routes)) {
		route := routes[name]
		if slices.Contains(route.Access, "public") || strings.HasPrefix(route.Path, "/mcp/") {
			continue
		}
		tried++
		path := strings.NewReplacer("{accountId}", harness.OutsideAccount, "{projectId}", "proj-outside-v1", "{proxy+}", "accounts/"+harness.OutsideAccount,
			"{userId}", id, "{agentId}", id).Replace(route.Path)
		for strings.Contains(path, "{") {
			start, rest, _ := strings.Cut(path, "{")
			_, end, _ := strings.Cut(rest, "}")
			path = start + "x" + end
		}
		for _, token := range tokens {
			r := harness.Call(t, strings.Replace(route.Method, "*", "GET", 1), s.URL+path, token, "", "X-Account-ID", harness.OutsideAccount, "X-User-ID", id, "X-Action", "account:user:read")
			if r.Status != http.StatusUnauthorized {
				t.Errorf("%s, %s %s: %d %s", name, route.Method, path, r.Status, r.Raw)
			}
		}
	}
	if tried < 60 {
		t.Errorf("%d routes were tried", tried)
	}
}

// TestAnAgentsOwnStreamEnds guarantees the end of its open stream within a second of the answer to a suspension, to the end
// of the agent or of its client, and to the revoke of its role. Without a role it ends by itself.
func TestAnAgentsOwnStreamEnds(t *testing.T) {
	t.Parallel()
	s := newAgentScene(t, aloneRows)
	for name, end := range map[string]func(id, role string){
		"suspended":        func(id, _ string) { s.api(t, 200, "PATCH", "/agents/"+id, `{"status":"SUSPENDED"}`) },
		"without a client": func(id, _ string) { s.api(t, 200, "PATCH", "/agents/"+id, `{"clients":[]}`) },
		"without a role": func(_, role string) {
			s.api(t, 200, "DELETE", role+"?assigneeType=AGENT&projectId=proj-outside-v1", "")
		},
		"deleted": func(id, _ string) { s.api(t, 200, "DELETE", "/agents/"+id, "") },
	} {
		client := strings.ReplaceAll(name, " ", "-")
		id := s.register(t, client)
		role := "/roles/project_admin/assignments/" + id
		s.api(t, 200, "PUT", role, `{"assigneeType":"AGENT","projectId":"proj-outside-v1"}`)
		stream := listen(t, s.Gateway, alonePath, s.alone(t, client))
		select {
		case <-stream:
			t.Fatalf("%s: the stream has ended before", name)
		case <-time.After(1200 * time.Millisecond): // it is judged twice meanwhile
		}
		end(id, role)
		answered := time.Now()
		select {
		case ended := <-stream:
			if took := ended.Sub(answered); took > time.Second {
				t.Errorf("%s: the stream ended after %s", name, took)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s: the stream goes on", name)
		}
	}
	s.register(t, "never-had-a-role")
	select {
	case <-listen(t, s.Gateway, alonePath, s.alone(t, "never-had-a-role")):
	case <-time.After(10 * time.Second):
		t.Error("the stream of an agent without a role goes on")
	}
}
