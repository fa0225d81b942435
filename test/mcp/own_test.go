package mcp_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// ownPath is the path of Portcullis's own server.
const ownPath = "/mcp/portcullis"

// startOwn starts a gateway with its own server alone.
func startOwn(t *testing.T, args ...string) *harness.Gateway {
	t.Helper()
	dir := t.TempDir()
	harness.Seed(t, dir, account, project, append([]harness.Member{
		{ID: admin, Roles: []string{"account_admin"}}, {ID: reader, Roles: []string{"account_reader"}}, {ID: stranger},
	}, manyMembers...)...)
	return harness.StartIn(t, dir, append([]string{"--public-url", publicURL}, args...)...)
}

// ownToken returns a token of a user for the own server.
func ownToken(t *testing.T, g *harness.Gateway, user string) string {
	t.Helper()
	return g.Token(t, "--user", user, "--audience", publicURL+ownPath, "--scope", "mcp:read")
}

// ownSession opens a session of the official client.
func ownSession(t *testing.T, g *harness.Gateway, token string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: g.URL + ownPath, HTTPClient: &http.Client{Transport: bearer{token}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// asked is the answer of a tool: a result, the text of one that is an error, or the code of a denial.
type asked struct {
	result map[string]any
	failed string
	code   string
}

// askOwn calls a tool in the modern era.
func askOwn(t *testing.T, g *harness.Gateway, path, token, tool, arguments string) (a asked) {
	t.Helper()
	_, text := raw(t, g, path, token, request("tools/call", `"name":"`+tool+`","arguments":`+arguments), modern("tools/call", tool)...)
	var body struct {
		Result *struct {
			Structured map[string]any `json:"structuredContent"`
			Content    []struct{ Text string }
			IsError    bool `json:"isError"`
		}
		Error *struct{ Data struct{ Code string } }
	}
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		t.Fatalf("%s: %v in %s", tool, err, text)
	}
	switch {
	case body.Error != nil && body.Error.Data.Code != "":
		a.code = body.Error.Data.Code
	case body.Result == nil || len(body.Result.Content) != 1:
		t.Fatalf("%s: %s", tool, text)
	case body.Result.IsError:
		a.failed = body.Result.Content[0].Text
	default:
		a.result = body.Result.Structured
	}
	return a
}

// TestTheOwnServerInBothEras guarantees the list of each user, and an answer, with the official client and by the modern
// protocol. A token for another resource is refused.
func TestTheOwnServerInBothEras(t *testing.T) {
	t.Parallel()
	g := startOwn(t)
	for user, want := range map[string][]string{
		admin: {"changes", "check", "what_can", "who_can", "why"}, reader: {"changes", "check", "what_can", "why"}, stranger: {},
	} {
		token := ownToken(t, g, user)
		session := ownSession(t, g, token)
		list, err := session.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, tool := range list.Tools {
			got = append(got, tool.Name)
			if tool.OutputSchema == nil || !tool.Annotations.ReadOnlyHint {
				t.Errorf("%+v", tool)
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s sees %v, want %v", user, got, want)
		}
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "check", Arguments: map[string]any{"action": "project:instance:read", "project": project}})
		a := askOwn(t, g, ownPath, token, "check", `{"action":"project:instance:read","project":"`+project+`"}`)
		if user == stranger {
			if err == nil || !strings.Contains(err.Error(), "Denied") || a.code != "no_role" {
				t.Errorf("a stranger: %+v, %v, %+v", result, err, a)
			}
			continue
		}
		if err != nil || result.IsError || result.StructuredContent.(map[string]any)["allowed"] != true || a.result["allowed"] != true {
			t.Errorf("%s: %+v, %v, %+v", user, result, err, a)
		}
	}
	resp, text := raw(t, g, ownPath, g.UserToken(t, admin), request("tools/list", ""), modern("tools/list", "")...)
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a token of the API: %d %s", resp.StatusCode, text)
	}
	if resp, _ := raw(t, startOwnOff(t), ownPath, "x", request("tools/list", "")); resp.StatusCode != http.StatusNotFound {
		t.Errorf("without --public-url: %d", resp.StatusCode)
	}
}

func startOwnOff(t *testing.T) *harness.Gateway {
	t.Helper()
	dir := t.TempDir()
	harness.Seed(t, dir, account, project, harness.Member{ID: admin, Roles: []string{"account_admin"}})
	return harness.StartIn(t, dir)
}

// apiAnswer is what the API answers to the question of a tool, asked by the user's own token, as a tool would show it.
func apiAnswer(t *testing.T, g *harness.Gateway, token, tool, user, action, place, subject string) (status int, body map[string]any) {
	t.Helper()
	entity := fmt.Sprintf(`{"type":"path","id":%q,"properties":{"account_id":%q}}`, place, account)
	var r harness.Reply
	out := map[string]any{}
	switch tool {
	case "check", "why":
		door := map[string]string{"check": "authorize", "why": "explain"}[tool]
		r = harness.Call(t, "POST", g.URL+"/api/v1/"+door+"/"+place, token, "", "x-user-id", user, "x-account-id", account, "x-action", action)
		out = r.Body
		if tool == "check" && r.Status == 200 {
			var revision float64
			_, _ = fmt.Sscan(r.Header.Get("X-Account-Revision"), &revision)
			out["policy_revision"], out["account_revision"] = r.Header.Get("X-Policy-Revision"), revision
		}
	case "who_can", "what_can":
		question, path := fmt.Sprintf(`{"subject":{"type":"user"},"action":{"name":%q},"resource":%s}`, action, entity), "subject"
		if tool == "what_can" {
			question, path = fmt.Sprintf(`{"subject":{"type":"user","id":%q},"resource":%s}`, user, entity), "action"
		}
		r = harness.Call(t, "POST", g.URL+"/access/v1/search/"+path, token, question)
		if r.Status == 200 {
			name, key := "users", "id"
			if tool == "what_can" {
				name, key = "actions", "name"
			}
			list := []any{}
			for _, one := range r.Body["results"].([]any) {
				list = append(list, one.(map[string]any)[key])
			}
			context := r.Body["context"].(map[string]any)
			out = map[string]any{
				name: list, "next_page": "", "complete": context["complete"], "policy_revision": context["policy_revision"], "account_revision": context["account_revision"],
			}
		}
	case "changes":
		r = harness.Call(t, "GET", g.URL+"/api/v1/accounts/"+account+"/changes?page_size=3&subject="+url.QueryEscape(subject), token, "")
		if out = r.Body; r.Status == 200 {
			out["next_page"] = out["next_page_token"]
			delete(out, "next_page_token")
		}
	}
	return r.Status, out
}

// TestTheOwnServerEqualsTheAPI guarantees for 300 random questions of random users the API's answer to the same user, or its
// refusal. Users without a tool's action are denied.
func TestTheOwnServerEqualsTheAPI(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	t.Logf("seed %d", seed)
	g := startOwn(t)
	owner := g.UserToken(t, admin)
	grants := []string{"account:authorization:read", "account:authorization:check", "account:authorization:explain", "account:change:read"}
	type person struct{ id, token, api string }
	people := []person{{admin, ownToken(t, g, admin), owner}}
	for n, member := range manyMembers {
		var permissions []string
		for i, one := range grants {
			if (random.IntN(4) == 0) != (i == 0) { // most may use the tools, and few may ask about others
				permissions = append(permissions, one)
			}
		}
		if len(permissions) > 0 {
			text, _ := json.Marshal(permissions)
			role := harness.Call(t, "POST", g.URL+"/api/v1/accounts/"+account+"/roles", owner, fmt.Sprintf(`{"name":"r%d","scope":"ACCOUNT","permissions":%s}`, n, text), "x-account-id", account)
			assigned := harness.Call(t, "PUT", g.URL+"/api/v1/accounts/"+account+"/roles/"+fmt.Sprint(role.Body["id"])+"/assignments/"+member.ID, owner, "{}", "x-account-id", account)
			if assigned.Status != 200 {
				t.Fatalf("%s %s", role.Raw, assigned.Raw)
			}
		}
		people = append(people, person{member.ID, ownToken(t, g, member.ID), g.UserToken(t, member.ID)})
	}
	tools := []string{"check", "why", "who_can", "what_can", "changes"}
	places := map[string]string{"": "accounts/" + account, `,"project":"` + project + `"`: "accounts/" + account + "/projects/" + project, `,"resource":"d/a%20b!"`: "accounts/" + account + "/d/a%20b!"}
	seen := map[string]int{}
	for range pairs {
		asker, user := people[random.IntN(len(people))], people[random.IntN(len(people))]
		if random.IntN(3) == 0 {
			user = asker
		}
		tool, action := tools[random.IntN(len(tools))], []string{"project:instance:read", "account:user:read", "account:change:read"}[random.IntN(3)]
		for where, place := range places {
			arguments := map[string]string{
				"check": `"user":"` + user.id + `","action":"` + action + `"` + where, "what_can": `"user":"` + user.id + `"` + where,
				"who_can": `"action":"` + action + `"` + where, "changes": `"limit":3,"subject":"` + user.id + `"`,
			}
			arguments["why"] = arguments["check"]
			got := askOwn(t, g, ownPath, asker.token, tool, "{"+arguments[tool]+"}")
			status, want := apiAnswer(t, g, asker.api, tool, user.id, action, place, user.id)
			for _, one := range []map[string]any{got.result, want} {
				for _, name := range []string{"decided_at", "decision_id"} {
					delete(one, name)
				}
			}
			switch {
			case got.code != "":
				seen["denied"]++
				if status == 200 && (tool == "who_can" || tool == "changes") {
					t.Errorf("%s may not use %s, and the API answers %v", asker.id, tool, want)
				}
			case got.failed != "":
				seen["refused"]++
				if !strings.HasPrefix(got.failed, fmt.Sprint(status)+": ") || status == 200 {
					t.Errorf("%s, %s about %s: %q, and the API %d %v", asker.id, tool, user.id, got.failed, status, want)
				}
			case tool == "why" && (got.result["complete"] == true) != (want["complete"] == true):
				seen["cut"]++ // a busy machine had no time for all fixes
			default:
				seen["answered"]++
				if status != 200 || asJSON(t, got.result) != asJSON(t, want) {
					t.Errorf("%s, %s about %s:\n%s, and the API %d\n%s", asker.id, tool, user.id, asJSON(t, got.result), status, asJSON(t, want))
				}
			}
		}
	}
	if seen["cut"] > pairs/20 || seen["denied"] < 20 || seen["refused"] < 20 || seen["answered"] < 20 {
		t.Errorf("the questions are one-sided: %v", seen)
	}
}

// TestTheOwnServerRefusesHostileArguments guarantees an error for arguments that are not what they claim: none becomes a
// header, another path or another query.
func TestTheOwnServerRefusesHostileArguments(t *testing.T) {
	t.Parallel()
	g := startOwn(t)
	token := ownToken(t, g, reader)
	for _, c := range []struct{ tool, arguments, want string }{
		{"check", `{"action":"project:instance:read\r\nX-User-ID: ` + admin + `"}`, "400"},
		{"check", `{"action":"project:instance:read","user":"` + reader + `\r\nAuthorization: x"}`, "400"},
		{"check", `{"action":"project:instance:read","user":"` + admin + `"}`, "403"},
		{"check", `{"action":"project:instance:read","project":"../../acct-other-v1"}`, "400"},
		{"check", `{"action":"project:instance:read","resource":"../x?y#z"}`, "400"},
		{"check", `{"action":"project:instance:read","resource":"x HTTP/1.1\r\n"}`, "400"},
		{"check", `{"action":"project:instance:read","project":"` + project + `/projects/other"}`, "400"},
		{"check", `{"action":"no action"}`, "400"},
		{"check", `{"action":"project:instance:read","resource":"` + strings.Repeat("x", 100_000) + `"}`, "4"},
		{"check", `{"action":"project:instance:read","account":"acct-other-v1"}`, "account"},
		{"check", `{}`, "action"},
		{"check", `{"action":7}`, "action"},
		{"check", `[]`, ""},
		{"changes", `{"since":"x&actor=y"}`, "400"},
		{"changes", `{"limit":-1}`, "400"},
		{"changes", `{"page":"x"}`, "400"},
		{"what_can", `{"user":"` + admin + `"}`, "403"},
		{"what_can", `{"page":"x"}`, "400"},
		{"why", `{"action":"project:instance:read","user":"` + admin + `"}`, "403"},
	} {
		_, text := raw(t, g, ownPath, token, request("tools/call", `"name":"`+c.tool+`","arguments":`+c.arguments), modern("tools/call", c.tool)...)
		if strings.Contains(text, `"structuredContent"`) || !strings.Contains(text, c.want) || len(text) > 10<<10 {
			t.Errorf("%s %.200s: %.500s", c.tool, c.arguments, text)
		}
	}
	if a := askOwn(t, g, ownPath, token, "who_can", `{"action":"project:instance:read"}`); a.code != "no_role" {
		t.Errorf("%+v", a)
	}
}

// TestTheOwnServerKeepsToTheRates guarantees that a tool's call counts twice against its caller's rate: as a message, and
// as the question.
func TestTheOwnServerKeepsToTheRates(t *testing.T) {
	t.Parallel()
	g := startOwn(t, "--rate-principal", "3/h")
	token, arguments := ownToken(t, g, reader), `{"action":"project:instance:read"}`
	if a := askOwn(t, g, ownPath, token, "check", arguments); a.result == nil {
		t.Fatalf("%+v", a)
	}
	if a := askOwn(t, g, ownPath, token, "check", arguments); !strings.HasPrefix(a.failed, "429: ") {
		t.Errorf("%+v", a)
	}
}

// TestWhatAToolAsksIsRecordedBelowItsCall guarantees that the log links the question of a tool to the decision on its call.
func TestWhatAToolAsksIsRecordedBelowItsCall(t *testing.T) {
	t.Parallel()
	g := startOwn(t, "--decision-log", "required")
	token := ownToken(t, g, admin)
	askOwn(t, g, ownPath, token, "check", `{"action":"project:instance:read"}`)
	askOwn(t, g, ownPath, token, "changes", "{}")
	text, all := export(t, g)
	asked := all["authz/decision"]
	if len(asked) != 3 || len(all["authz/access"]) != 1 || len(all["mcp/call"]) != 2 {
		t.Fatalf("the records are %s", text)
	}
	check, changes := all["mcp/call"][0].Parent, all["mcp/call"][1].Parent
	if asked[0].ID != check || asked[0].Parent != "" || asked[1].Parent != check || asked[2].ID != changes || asked[2].Parent != "" || all["authz/access"][0].Parent != changes {
		t.Errorf("the records are %s", text)
	}
}

// ownAgentScene is a gateway with an outside issuer and its own server.
func ownAgentScene(t *testing.T, args ...string) *agentScene {
	t.Helper()
	provider := harness.NewIdentityProvider(t, "https://login.example", "k1")
	g := harness.OutsideGateway(t, append([]string{
		"--jwt-issuer", "https://login.example", "--jwt-audience", provider.Audience,
		"--jwks-file", harness.TempFile(t, "jwks.json", provider.Jwks()), "--public-url", publicURL,
	}, args...)...)
	return &agentScene{Gateway: g, provider: provider}
}

// TestAnAgentAsksWithinItsDelegation guarantees that an agent uses a tool within its roles and its delegation. About
// others it asks only with the API's own action in both.
func TestAnAgentAsksWithinItsDelegation(t *testing.T) {
	t.Parallel()
	s := ownAgentScene(t)
	token := s.token(t, "helper", func(c jwt.MapClaims) { c["aud"] = publicURL + ownPath })
	self := `{"action":"project:instance:read"}`
	other := `{"action":"project:instance:read","user":"user-other-v1"}`
	ask := func(tool, arguments string) asked {
		t.Helper()
		return askOwn(t, s.Gateway, ownPath, token, tool, arguments)
	}
	if a := ask("check", self); a.code != "needs_registered_agent" {
		t.Errorf("%+v", a)
	}
	id := s.register(t, "helper")
	if a := ask("check", self); a.code != "needs_delegation" {
		t.Errorf("%+v", a)
	}
	delegate := func(permissions string) {
		s.api(t, 200, "PUT", "/users/"+harness.OutsideAdmin+"/delegations/"+id, `{"permissions":[`+permissions+`]}`)
	}
	delegate(`"account:authorization:read"`)
	if a := ask("check", self); a.code != "needs_agent_role" {
		t.Errorf("%+v", a)
	}
	s.api(t, 200, "PUT", "/roles/account_reader/assignments/"+id, `{"assigneeType":"AGENT"}`)
	for _, tool := range []string{"check", "why"} {
		if a := ask(tool, self); a.result["allowed"] != true {
			t.Errorf("%s: %+v", tool, a)
		}
		if a := ask(tool, other); !strings.HasPrefix(a.failed, "403: You may not do this. your agent may not do account:authorization:") {
			t.Errorf("%s: %+v", tool, a)
		}
	}
	for _, tool := range []string{"who_can", "changes"} {
		if a := ask(tool, map[string]string{"who_can": self, "changes": "{}"}[tool]); a.code != "needs_delegation" {
			t.Errorf("%s: %+v", tool, a)
		}
	}
	delegate(`"account:*:*"`)
	if a := ask("changes", "{}"); a.result == nil {
		t.Errorf("%+v", a)
	}
	if a := ask("who_can", self); a.code != "needs_agent_role" {
		t.Errorf("%+v", a)
	}
	if a := ask("check", other); !strings.HasPrefix(a.failed, "403: You may not do this. your agent may not do account:authorization:check") {
		t.Errorf("the agent's role lacks the action: %+v", a)
	}
	s.api(t, 200, "PUT", "/roles/account_admin/assignments/"+id, `{"assigneeType":"AGENT"}`)
	for _, tool := range []string{"check", "who_can"} {
		if a := ask(tool, map[string]string{"check": other, "who_can": self}[tool]); a.result == nil {
			t.Errorf("%s: %+v", tool, a)
		}
	}
	s.api(t, 200, "PATCH", "/agents/"+id, `{"status":"SUSPENDED"}`)
	if a := ask("check", self); a.code != "needs_active_agent" {
		t.Errorf("%+v", a)
	}
}
