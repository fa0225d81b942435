package mcp_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/harness"
)

// rowQuestion is an AuthZEN question about a row of a server at a place. The action may be nil.
func rowQuestion(user, place, server, kind, name, agent string, action any) map[string]any {
	properties := map[string]any{"server": server}
	segments := strings.Split(place, "/")
	for i := 0; i+1 < len(segments); i += 2 {
		properties[map[string]string{"accounts": "account_id", "projects": "project_id"}[segments[i]]] = segments[i+1]
	}
	q := map[string]any{"subject": map[string]any{"type": "identity", "id": user}, "resource": map[string]any{"type": kind, "id": name, "properties": properties}}
	if action != nil {
		q["action"] = map[string]any{"name": action}
	}
	if agent != "" {
		q["context"] = map[string]any{"agent": agent}
	}
	return q
}

// authzen posts a body to AuthZEN.
func authzen(t *testing.T, g *harness.Gateway, path, token string, body any) harness.Reply {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return harness.Call(t, http.MethodPost, g.URL+"/access/v1/"+path, token, string(text))
}

// evaluate returns the decision and its reason.
func evaluate(t *testing.T, g *harness.Gateway, token string, q any) (decision bool, reason string) {
	t.Helper()
	r := authzen(t, g, "evaluation", token, q)
	decision, ok := r.Body["decision"].(bool)
	if !ok {
		t.Fatalf("%v: %d %s", q, r.Status, r.Raw)
	}
	reason, _ = harness.At(r.Body, "context", "reason").(string)
	return decision, reason
}

func evaluateTool(t *testing.T, g *harness.Gateway, token, user, place, server, tool, agent string) (decision bool, reason string) {
	t.Helper()
	return evaluate(t, g, token, rowQuestion(user, place, server, "tool", tool, agent, "tools/call"))
}

// rowsFound walks through an action search on the server, page by page.
func rowsFound(t *testing.T, g *harness.Gateway, token, user, place, server, agent string, limit int) (names []string) {
	t.Helper()
	q := rowQuestion(user, place, server, "mcp_server", server, agent, nil)
	page := map[string]any{"limit": limit}
	q["page"] = page
	for range 50 {
		r := authzen(t, g, "search/action", token, q)
		results, ok := r.Body["results"].([]any)
		if !ok || len(results) > limit || harness.At(r.Body, "context", "complete") != true {
			t.Fatalf("%d %s", r.Status, r.Raw)
		}
		for _, one := range results {
			names = append(names, harness.At(one, "name").(string))
		}
		next, _ := harness.At(r.Body, "page", "next_token").(string)
		if next == "" {
			return names
		}
		page["token"] = next
	}
	t.Fatal("the search has no end")
	return nil
}

// rowsListed are the rows that the door's lists show to the holder of a token, as an action search names them. The
// upstream has one resource, which no list of templates has.
func rowsListed(t *testing.T, g *harness.Gateway, path, token string) (names []string) {
	t.Helper()
	for _, kind := range []string{"tools", "prompts"} {
		method := kind + "/list"
		_, text := raw(t, g, path, token, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, method), modern(method, "")...)
		for _, line := range append(strings.Split(text, "\n"), text) {
			var list struct{ Result map[string]json.RawMessage }
			if json.Unmarshal([]byte(strings.TrimPrefix(line, "data: ")), &list) != nil || list.Result[kind] == nil {
				continue
			}
			var items []struct{ Name string }
			if err := json.Unmarshal(list.Result[kind], &items); err != nil {
				t.Fatal(err)
			}
			for _, item := range items {
				names = append(names, kind+"/"+item.Name)
			}
			break
		}
	}
	slices.Sort(names)
	return names
}

// TestASearchIsWhatTheListShows guarantees for random users that an action search on a server finds the rows of the door's
// lists. Evaluation allows each of them.
func TestASearchIsWhatTheListShows(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	row := strings.TrimSuffix(manyTools(t, u), "}") + `,"prompts":{"triage":{"action":"project:github_issue:read","effect":"read"}}}`
	g := startGateway(t, u, row)
	users := randomUsers(t, g, newRandom(t))
	service, names := g.ServiceToken(t, resources.ServiceScopeCheck), map[string]bool{}
	for _, user := range users {
		for _, place := range places {
			want := rowsListed(t, g, "/mcp/"+place+"/issues", user.tokens[place])
			got := rowsFound(t, g, service, user.id, place, "issues", "", 3)
			if !slices.Equal(got, want) {
				t.Errorf("%s at %s: found %q, listed %q", user.id, place, got, want)
			}
			for _, name := range got {
				names[name] = true
				q := rowQuestion(user.id, place, "issues", "mcp_server", "issues", "", name)
				if decision, why := evaluate(t, g, service, q); !decision {
					t.Errorf("%s at %s finds %s: %s", user.id, place, name, why)
				}
			}
		}
	}
	if len(names) < 5 || !names["prompts/triage"] {
		t.Errorf("the users find %q alone", slices.Sorted(maps.Keys(names)))
	}
	if got := rowsFound(t, g, service, users[0].id, places[0], "unknown", "", 5); len(got) > 0 {
		t.Errorf("an unknown server has %q", got)
	}
}

// TestAToolWithoutARowIsDeniedAlike guarantees the same words for a tool beyond the user's roles, one without a row, and
// one of an unknown server. It holds for users without roles, and for those with a wildcard in a role. An action of another
// row denies in these words as well.
func TestAToolWithoutARowIsDeniedAlike(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	g := startGateway(t, u, rows)
	service := g.ServiceToken(t, resources.ServiceScopeCheck)
	text := func(user, kind, name string, action any) (bool, string) {
		t.Helper()
		decision, reason := evaluate(t, g, service, rowQuestion(user, places[2], "issues", kind, name, "", action))
		return decision, strings.ReplaceAll(reason, name, "NAME")
	}
	for kind, names := range map[string][2]string{"tool": {"merge_pull_request", "drop_database"}, "prompt": {"triage", "other"}, "resource": {"repo://acme/site/readme", "file:///etc/passwd"}} {
		_, listed := text(stranger, kind, names[0], nil)
		if decision, missing := text(stranger, kind, names[1], nil); decision || missing != listed || !strings.Contains(listed, "no active role of the user lets them use the "+kind) {
			t.Errorf("%s: %q and %q", kind, listed, missing)
		}
		for _, action := range []any{"account:user:read", "project:mcp:absent", "fly", "tools/list", "call/me"} {
			if decision, reason := text(admin, kind, names[0], action); decision || reason != listed {
				t.Errorf("%s by %v: %t %q", kind, action, decision, reason)
			}
			if _, reason := text(stranger, kind, names[0], action); reason != listed {
				t.Errorf("%s by %v: %q", kind, action, reason)
			}
		}
		if decision, reason := text(admin, kind, names[1], nil); decision || reason != listed {
			t.Errorf("%s without a row, of an admin: %t %q", kind, decision, reason)
		}
		if decision, _ := text(admin, kind, names[0], nil); !decision {
			t.Errorf("%s: the admin is denied", kind)
		}
	}
	decision, reason := evaluate(t, g, service, rowQuestion(admin, places[2], "nowhere", "tool", "merge_pull_request", "", nil))
	if want := `no active role of the user lets them use the tool "merge_pull_request" of the server "nowhere"`; decision || reason != want {
		t.Errorf("a tool of an unknown server: %t %q", decision, reason)
	}
	for _, action := range []string{"tools/merge_pull_request", "prompts/triage", "resources/repo://{owner}/{name}/{path+}"} {
		if decision, reason := evaluate(t, g, service, rowQuestion(admin, places[2], "issues", "mcp_server", "issues", "", action)); !decision {
			t.Errorf("%s: %s", action, reason)
		}
	}
	for _, action := range []string{"tools/drop_database", "tools/list", "tools", "initialize", "prompts/search_issues", "resources/file:///etc/passwd", "/", "tools/"} {
		if decision, _ := evaluate(t, g, service, rowQuestion(admin, places[2], "issues", "mcp_server", "issues", "", action)); decision {
			t.Errorf("%s is allowed", action)
		}
	}
}

// TestActionsOnARow guarantees the names of the actions on each kind of row. An action search finds these.
func TestActionsOnARow(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	g := startGateway(t, u, rows)
	service := g.ServiceToken(t, resources.ServiceScopeCheck)
	for kind, c := range map[string]struct {
		name    string
		actions []string
	}{
		"tool":     {"merge_pull_request", []string{"call", "project:github_pull:merge", "tools/call"}},
		"prompt":   {"triage", []string{"completion/complete", "get", "project:github_issue:read", "prompts/get"}},
		"resource": {"repo://acme/site/readme", []string{"completion/complete", "project:github_file:read", "read", "resources/read", "resources/subscribe", "resources/unsubscribe"}},
	} {
		for _, action := range c.actions {
			if decision, reason := evaluate(t, g, service, rowQuestion(admin, places[2], "issues", kind, c.name, "", action)); !decision {
				t.Errorf("%s of a %s: %s", action, kind, reason)
			}
		}
		r := authzen(t, g, "search/action", service, rowQuestion(admin, places[2], "issues", kind, c.name, "", nil))
		var got []string
		for _, one := range r.Body["results"].([]any) {
			got = append(got, harness.At(one, "name").(string))
		}
		if !slices.Equal(got, c.actions) || harness.At(r.Body, "context", "complete") != true {
			t.Errorf("a %s: %s", kind, r.Raw)
		}
		r = authzen(t, g, "search/subject", service, map[string]any{
			"subject": map[string]any{"type": "identity"}, "resource": rowQuestion("", places[2], "issues", kind, c.name, "", nil)["resource"],
		})
		if !strings.Contains(string(r.Raw), admin) || strings.Contains(string(r.Raw), stranger) {
			t.Errorf("who may use the %s: %s", kind, r.Raw)
		}
	}
}

// TestMalformedQuestionsAboutRows guarantees 400 for them, with the field.
func TestMalformedQuestionsAboutRows(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	g := startGateway(t, u, rows)
	service := g.ServiceToken(t, resources.ServiceScopeCheck)
	for name, c := range map[string]struct {
		change func(q, properties map[string]any)
		want   string
	}{
		"no server":          {func(_, p map[string]any) { delete(p, "server") }, "resource.properties.server"},
		"an odd server":      {func(_, p map[string]any) { p["server"] = 7 }, "resource.properties.server"},
		"a server elsewhere": {func(_, p map[string]any) { p["server"] = "../issues" }, "resource.properties.server"},
		"accounts":           {func(_, p map[string]any) { p["server"] = "accounts" }, "resource.properties.server"},
		"an odd project":     {func(_, p map[string]any) { p["project_id"] = []any{} }, "resource.properties.project_id"},
		"dots as a project":  {func(_, p map[string]any) { p["project_id"] = ".." }, "resource.id"},
		"an odd account":     {func(_, p map[string]any) { p["account_id"] = 1 }, "resource.properties.account_id"},
		"a URL as a server": {func(q, _ map[string]any) {
			q["resource"] = map[string]any{"type": "mcp_server", "id": publicURL + path}
			q["action"] = map[string]any{"name": "tools/search_issues"}
		}, "resource.id"},
		"a server without an action": {func(q, _ map[string]any) { q["resource"] = map[string]any{"type": "mcp_server", "id": "issues"} }, "action"},
		"an empty action":            {func(q, _ map[string]any) { q["action"] = map[string]any{"name": ""} }, "action.name"},
		"odd arguments":              {func(q, _ map[string]any) { q["context"] = map[string]any{"arguments": []any{}} }, "context.arguments: must be an object"},
		"null as arguments":          {func(q, _ map[string]any) { q["context"] = map[string]any{"arguments": nil} }, "context.arguments: must be an object"},
		"arguments of a project": {func(q, _ map[string]any) {
			q["context"] = map[string]any{"arguments": map[string]any{}}
			q["resource"], q["action"] = map[string]any{"type": "project", "id": project}, map[string]any{"name": "project:instance:read"}
		}, "context.arguments: must not be sent: only tools"},
		"arguments of a route": {func(q, _ map[string]any) {
			q["context"] = map[string]any{"arguments": nil}
			q["resource"], q["action"] = map[string]any{"type": "route", "id": "/api/v1/accounts"}, map[string]any{"name": "GET"}
		}, "context.arguments: must not be sent: only tools"},
		"arguments of a prompt": {func(q, _ map[string]any) {
			q["context"] = map[string]any{"arguments": map[string]any{}}
			q["resource"].(map[string]any)["type"] = "prompt"
		}, "context.arguments: must not be sent: only tools"},
		"arguments of a server's prompt": {func(q, _ map[string]any) {
			q["context"] = map[string]any{"arguments": map[string]any{}}
			q["resource"] = map[string]any{"type": "mcp_server", "id": "issues"}
			q["action"] = map[string]any{"name": "prompts/triage"}
		}, "context.arguments: must not be sent: only tools"},
	} {
		q := rowQuestion(admin, places[2], "issues", "tool", "search_issues", "", nil)
		c.change(q, q["resource"].(map[string]any)["properties"].(map[string]any))
		if r := authzen(t, g, "evaluation", service, q); r.Status != 400 || !strings.Contains(string(r.Raw), c.want) {
			t.Errorf("%s: %d %s", name, r.Status, r.Raw)
		}
	}
}

// TestAnApprovalIsNotARole guarantees that a call in need of an approval is denied here as at the door, and shown in lists.
func TestAnApprovalIsNotARole(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	g := startGateway(t, u, strings.Replace(rows, `"effect": "write"}`, `"effect": "write", "approval": "each_call"}`, 1))
	service := g.ServiceToken(t, resources.ServiceScopeCheck)
	if decision, reason := evaluateTool(t, g, service, admin, places[2], "issues", "merge_pull_request", ""); decision || !strings.Contains(reason, "approval") {
		t.Errorf("%t %q", decision, reason)
	}
	if decision, reason := evaluateTool(t, g, service, stranger, places[2], "issues", "merge_pull_request", ""); decision || strings.Contains(reason, "approval") {
		t.Errorf("a stranger: %t %q", decision, reason)
	}
	if got := rowsFound(t, g, service, admin, places[2], "issues", "", 9); !slices.Contains(got, "tools/merge_pull_request") {
		t.Errorf("%q", got)
	}
}

// service returns a service's token of the outside issuer.
func (s *agentScene) service(t *testing.T) string {
	t.Helper()
	return s.provider.Token(t, "service-pep", func(c jwt.MapClaims) { c["scope"] = resources.ServiceScopeCheck })
}

// unlike asks AuthZEN about the agent's call of a tool, as a service and as the user, by the client and by the id of a
// registered agent, and searches for it. It returns an answer that differs from the one by the factors, or "". The scope
// and the definition are the door's alone.
func (s *agentScene) unlike(t *testing.T, f factors, tool, client, id string) string {
	t.Helper()
	const place = "accounts/" + harness.OutsideAccount + "/projects/proj-outside-v1"
	names := []string{client, id}[:map[bool]int{true: 2, false: 1}[f.registered]]
	f.scope = bothScopes
	want := f.allows(map[bool]string{true: "search_issues", false: tool}[tool == "drop_database"])
	for title, token := range map[string]string{"a service": s.service(t), "the user": s.provider.Token(t, f.user)} {
		for _, agent := range names {
			decision, reason := evaluateTool(t, s.Gateway, token, f.user, place, "issues", tool, agent)
			rows := rowsFound(t, s.Gateway, token, f.user, place, "issues", agent, 9)
			if decision != want || slices.Contains(rows, "tools/"+tool) != want {
				return fmt.Sprintf("AuthZEN tells %s with %s %t (%s) and finds %q", title, agent, decision, reason, rows)
			}
		}
	}
	return ""
}

// TestAServersRulesOnAgentsHoldInAuthZEN guarantees for each rule of a server that AuthZEN and the door answer alike.
func TestAServersRulesOnAgentsHoldInAuthZEN(t *testing.T) {
	t.Parallel()
	for rules, allowed := range map[string]map[string]bool{
		`"agents": "any", "consent": "not_required"`:        {"": true, "unknown": true, "helper": true, "suspended": false},
		`"agents": "any", "consent": "required"`:            {"": true, "unknown": false, "helper": false, "suspended": false},
		`"agents": "registered", "consent": "not_required"`: {"": true, "unknown": false, "helper": true, "suspended": false},
		`"agents": "registered", "consent": "required"`:     {"": true, "unknown": false, "helper": false, "suspended": false},
		`"agents": "none", "consent": "not_required"`:       {"": true, "unknown": false, "helper": false, "suspended": false},
	} {
		s := newAgentScene(t, strings.Replace(rows, `"agents": "any", "consent": "not_required"`, rules, 1))
		for _, client := range []string{"helper", "suspended"} {
			id := s.register(t, client)
			s.api(t, 200, "PUT", "/roles/project_reader/assignments/"+id, `{"assigneeType":"AGENT","projectId":"proj-outside-v1"}`)
			if client == "suspended" {
				s.api(t, 200, "PATCH", "/agents/"+id, `{"status":"SUSPENDED"}`)
			}
		}
		for client, want := range allowed {
			decision, reason := evaluateTool(t, s.Gateway, s.service(t), harness.OutsideAdmin, "projects/proj-outside-v1", "issues", "search_issues", client)
			door := s.call(t, s.token(t, client), "search_issues")
			if decision != want || (door == "") != want {
				t.Errorf("%s, agent %q: AuthZEN %t %q, the door %q", rules, client, decision, reason, door)
			}
		}
	}
}
