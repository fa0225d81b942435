package mcp_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/harness"
)

// pairs is the number of random pairs of a user and a tool.
const pairs = 300

// toolActions are the actions of the tools, tool_0 and so on.
var toolActions = []string{
	"project:github_issue:read", "project:github_issue:create", "project:github_pull:read", "project:github_pull:merge", "project:instance:read",
	"project:instance:delete", "account:user:read", "account:user:delete", "account:project:read", "account:role:create",
}

// places are the forms of the path.
var places = []string{"accounts/" + account, "projects/" + project, "accounts/" + account + "/projects/" + project}

func toolName(n int) string { return fmt.Sprintf("tool_%d", n) }

// manyTools adds a tool for each action to the server, and returns the rows.
func manyTools(t *testing.T, u *upstream) string {
	t.Helper()
	tools := map[string]any{}
	for n, action := range toolActions {
		u.addTool(toolName(n), "Does "+action)
		effect := "write"
		if strings.HasSuffix(action, ":read") {
			effect = "read"
		}
		tools[toolName(n)] = map[string]any{"action": action, "effect": effect}
	}
	row, err := json.Marshal(map[string]any{"upstream": "github", "pin": "names", "agents": "any", "consent": "not_required", "tools": tools})
	if err != nil {
		t.Fatal(err)
	}
	return string(row)
}

// TestTheDoorEqualsE3 guarantees the verdict of authorization.check for 300 random pairs of a user and a tool: users with
// roles of every scope or none, and suspended ones.
func TestTheDoorEqualsE3(t *testing.T) {
	t.Parallel()
	random := newRandom(t)
	u := newUpstream(t, true)
	g := startGateway(t, u, manyTools(t, u))
	users := randomUsers(t, g, random)
	service, verdicts := g.ServiceToken(t, resources.ServiceScopeCheck), map[bool]int{}
	for range pairs {
		user, n := users[random.IntN(len(users))], random.IntN(len(toolActions))
		place := places[random.IntN(len(places))]
		asked := place
		if strings.HasPrefix(toolActions[n], "account:") { // the project of the path is the way, as on routes
			asked = places[0]
		}
		r := harness.Call(t, http.MethodPost, g.URL+"/api/v1/authorize/"+asked+"/mcp/issues/tools/"+toolName(n), service, "",
			"x-user-id", user.id, "x-account-id", account, "x-action", toolActions[n])
		allowed, ok := r.Body["allowed"].(bool)
		if !ok {
			t.Fatalf("%s, %s: %d %s", user.id, toolActions[n], r.Status, r.Raw)
		}
		before := len(u.called())
		resp, text := raw(t, g, "/mcp/"+place+"/issues", user.tokens[place], call(toolName(n)), modern("tools/call", toolName(n))...)
		if done := strings.Contains(text, "done "+toolName(n)); done != allowed || len(u.called()) != before+map[bool]int{true: 1}[allowed] {
			t.Errorf("%s, %s of %s: authorization.check says %s, the door %d %s", user.id, toolActions[n], place, r.Raw, resp.StatusCode, text)
		}
		decision, reason := evaluateTool(t, g, service, user.id, place, "issues", toolName(n), "")
		if decision != allowed {
			t.Errorf("%s, %s of %s: authorization.check says %s, AuthZEN %t: %s", user.id, toolActions[n], place, r.Raw, decision, reason)
		}
		verdicts[allowed]++
	}
	if verdicts[true] < pairs/10 || verdicts[false] < pairs/10 {
		t.Errorf("the pairs are one-sided: %v", verdicts)
	}
}

func newRandom(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// caller is a user with a token for each form of the path.
type caller struct {
	id     string
	tokens map[string]string
}

// randomUsers returns users with random roles: in the account, in the project and on the server. One of eight is suspended.
func randomUsers(t *testing.T, g *harness.Gateway, random *rand.Rand) (users []caller) {
	t.Helper()
	token := g.UserToken(t, admin)
	api := func(method, rest, body string) harness.Reply {
		r := harness.Call(t, method, g.URL+"/api/v1"+rest, token, body, "x-account-id", account)
		if r.Status/100 != 2 {
			t.Fatalf("%s %s: %d %s", method, rest, r.Status, r.Raw)
		}
		return r
	}
	for n, member := range manyMembers {
		if random.IntN(2) == 0 {
			api(http.MethodPut, "/accounts/"+account+harness.AssignmentPath("project_reader", member.ID, project), "{}")
		}
		for _, scope := range []string{"ACCOUNT", "PROJECT", "RESOURCE"} {
			if random.IntN(2) == 0 {
				continue
			}
			actions := toolActions
			if scope != "ACCOUNT" {
				actions = toolActions[:6] // those of a project
			}
			some := random.Perm(len(actions))
			role := api(http.MethodPost, "/accounts/"+account+"/roles", fmt.Sprintf(`{"name":"%s %d","scope":%q,"permissions":[%q,%q]}`,
				scope, n, scope, actions[some[0]], actions[some[1]]))
			body := map[string]string{"ACCOUNT": "{}", "PROJECT": fmt.Sprintf(`{"projectId":%q}`, project), "RESOURCE": fmt.Sprintf(`{"projectId":%q,"resourceId":"mcp/issues"}`, project)}[scope]
			api(http.MethodPut, "/accounts/"+account+"/roles/"+role.Body["id"].(string)+"/assignments/"+member.ID, body)
		}
		user := caller{member.ID, map[string]string{}}
		for _, place := range places {
			user.tokens[place] = g.Token(t, "--user", member.ID, "--audience", publicURL+"/mcp/"+place+"/issues", "--scope", bothScopes)
		}
		if n%8 == 7 {
			api(http.MethodPut, "/users/"+member.ID, `{"status": "SUSPENDED"}`)
		}
		users = append(users, user)
	}
	return users
}

// manyMembers are the members of startGateway's account with random roles.
var manyMembers = func() (all []harness.Member) {
	for n := range 16 {
		all = append(all, harness.Member{ID: fmt.Sprintf("user-random%d-v1", n)})
	}
	return all
}()
