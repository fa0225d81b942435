package mcp_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"github.com/portcullis-authz/portcullis/resources/definition"
	"github.com/portcullis-authz/portcullis/test/harness"
)

// exceedsRows are rows with a tool of each effect, and one with another definition than the server's.
func exceedsRows(t *testing.T) string {
	t.Helper()
	out := strings.NewReplacer(`"agents": "any", "consent": "not_required"`, `"agents": "registered", "consent": "required"`, `"pin": "names", `, ``,
		`"effect": "write"}}`, `"effect": "write"}, "drop_database": {"action": "project:github_issue:read", "effect": "read"}}`).Replace(rows)
	for _, name := range []string{"search_issues", "merge_pull_request", "drop_database"} {
		shown := "Does " + name
		if name == "drop_database" {
			shown = "as it was"
		}
		out = pinned(t, out, name, shown)
	}
	return out
}

// pinned returns the rows with the definition of the server's tool of that name and description.
func pinned(t *testing.T, rows, name, description string) string {
	t.Helper()
	tool, err := json.Marshal(toolOf(name, description))
	if err != nil {
		t.Fatal(err)
	}
	is, err := definition.Of(tool)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Replace(rows, `"`+name+`": {`, `"`+name+`": {"definition": "`+is+`", `, 1)
}

// factors are what a call of an agent depends on.
type factors struct {
	user, role, delegation, scope string
	project                       string // the delegation's, "" for the whole account
	suspended, registered         bool
}

// allows says whether an agent may call the tool.
func (f factors) allows(tool string) bool {
	reads, all := map[string]bool{"search_issues": true}, map[string]bool{"search_issues": true, "merge_pull_request": true}
	held := map[string]map[string]bool{
		reader: reads, harness.OutsideAdmin: all, "project_reader": reads, "project_admin": all,
		"project:github_issue:read": reads, "project:*:read": reads, "*:*:*": all, "project:github_pull:merge": {"merge_pull_request": true},
		"mcp:read": reads, bothScopes: all,
	}
	return f.registered && !f.suspended && (f.project == "" || f.project == "proj-outside-v1") && held[f.user][tool] && held[f.role][tool] && held[f.delegation][tool] && held[f.scope][tool]
}

// exceeding asks random calls of agents, and returns a call with another answer than its factors give, or "". allowed is
// the number of allowed calls.
func exceeding(t *testing.T, seed uint64, draws int) (problem string, allowed int) {
	t.Helper()
	s := newAgentScene(t, exceedsRows(t))
	random := rand.New(rand.NewPCG(seed, seed))
	roles := []string{"", "project_reader", "project_admin", "project_admin"}
	agents := make([]string, len(roles))
	for i, role := range roles {
		agents[i] = s.register(t, fmt.Sprint("agent-", i))
		if role != "" {
			s.api(t, 200, "PUT", "/roles/"+role+"/assignments/"+agents[i], `{"assigneeType":"AGENT","projectId":"proj-outside-v1"}`)
		}
	}
	other, _ := harness.At(s.api(t, 201, "POST", "/projects", `{"name":"Other"}`).Body, "project", "id").(string)
	one := func(all ...string) string { return all[random.IntN(len(all))] }
	for range draws {
		n := random.IntN(len(roles))
		f := factors{
			user: one(harness.OutsideAdmin, harness.OutsideAdmin, reader, stranger), role: roles[n], registered: random.IntN(8) > 0, suspended: random.IntN(6) == 0,
			delegation: one("", "project:github_issue:read", "project:*:read", "*:*:*", "*:*:*", "project:github_pull:merge", "account:*:*"),
			project:    one("", "", "proj-outside-v1", other),
			scope:      one("", "mcp:read", bothScopes, bothScopes),
		}
		s.set(t, f, agents[n])
		client := map[bool]string{true: fmt.Sprint("agent-", n), false: "unknown"}[f.registered]
		token := s.provider.Token(t, f.user, func(c jwt.MapClaims) {
			c["aud"], c["scope"], c["client_id"] = publicURL+agentPath, f.scope, client
		})
		for _, tool := range []string{"search_issues", "merge_pull_request", "drop_database"} {
			got := s.passes(t, token, tool)
			if got != f.allows(tool) {
				return fmt.Sprintf("seed %d: %+v, %s: %v", seed, f, tool, got), allowed
			}
			if got {
				allowed++
			}
			if problem := s.unlike(t, f, tool, client, agents[n]); problem != "" {
				return fmt.Sprintf("seed %d: %+v, %s: %s", seed, f, tool, problem), allowed
			}
		}
	}
	return "", allowed
}

// set gives the agent its status and the user's delegation.
func (s *agentScene) set(t *testing.T, f factors, agent string) {
	t.Helper()
	s.api(t, 200, "PATCH", "/agents/"+agent, fmt.Sprintf(`{"status":%q}`, map[bool]string{true: "SUSPENDED", false: "ACTIVE"}[f.suspended]))
	url, token := s.URL+outsideOwner+"/users/"+f.user+"/delegations/"+agent, s.provider.Token(t, f.user)
	r := harness.Call(t, "DELETE", url, token, "") // of an earlier draw
	if f.delegation != "" {
		project := map[bool]string{true: fmt.Sprintf(`,"project_id":%q`, f.project)}[f.project != ""]
		r = harness.Call(t, "PUT", url, token, fmt.Sprintf(`{"permissions":[%q]%s}`, f.delegation, project))
	}
	if r.Status != 200 && r.Status != 404 {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
}

// passes calls a tool, and reports whether the server got the call.
func (s *agentScene) passes(t *testing.T, token, tool string) bool {
	t.Helper()
	before := len(s.u.called())
	raw(t, s.Gateway, agentPath, token, call(tool), modern("tools/call", tool)...)
	return len(s.u.called()) > before
}

// TestNoAgentExceedsItsUser asks of 200 random users, agents, delegations and scopes: a call reaches the server where the
// user alone is allowed, the agent is registered and active, its roles allow the call, the delegation covers it, the
// token has the scope and the definition is the reviewed one. It reaches the server nowhere else.
func TestNoAgentExceedsItsUser(t *testing.T) {
	t.Parallel()
	problem, allowed := exceeding(t, 11, 200)
	if problem != "" {
		t.Error(problem)
	}
	if allowed < 20 {
		t.Errorf("%d of 600 calls were allowed", allowed)
	}
}
