package doors_test

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	auth "github.com/envoyproxy/go-control-plane/envoy/service/auth/v3"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// doorsWorld is what the questions are about: accounts with users, projects, roles and groups in every state.
type doorsWorld struct {
	*harness.Gateway
	// envoys are connections to each replica, which take turns; anybody is one without a certificate.
	envoys                    []auth.AuthorizationClient
	anybody                   auth.AuthorizationClient
	asked                     atomic.Uint64
	accounts, projects, users []string
	// names are the projects of an account.
	names map[string][]string
	// callers are credentials; the first is a service's with the right to ask about anybody.
	callers []caller
}

// caller is a credential: a token, or a key. user is whose it is, "" for a service's. It is unknown
// where the gateway takes no credential of theirs.
type caller struct {
	name, user, token, key string
	unknown                bool
}

// absent are ids of what does not exist.
const (
	absentUser    = "user-ghost-v1"
	absentAccount = "acct-absent-v1"
	absentProject = "proj-absent-v1"
)

// The places of two callers.
const nobodyAt, brokenToken = 2, 3

func newWorld(t *testing.T, random *rand.Rand) *doorsWorld {
	t.Helper()
	teams, envoys, anybody := startTeams(t, policies(t))
	s := teams[0]
	w := &doorsWorld{
		Gateway: s.Gateway, envoys: envoys, anybody: anybody, names: map[string][]string{}, accounts: []string{absentAccount}, projects: []string{absentProject}, users: []string{absentUser, "service-demo"},
		callers: []caller{
			{name: "a service", token: s.Checker}, {name: "a service without the scope", token: s.Platform}, {name: "nobody", unknown: true}, {name: "a broken token", token: harness.OtherEnding(s.Checker), unknown: true},
		},
	}
	for i, team := range teams {
		w.furnish(t, team, random)
		w.accounts = append(w.accounts, team.Account)
		members := []string{team.Admin, team.Bob, team.Carol, team.Dan}
		w.users = append(w.users, members...)
		w.callers = append(w.callers, caller{name: "an admin", user: team.Admin, token: team.AdminToken})
		for _, member := range members[1:3] {
			w.callers = append(w.callers, caller{name: "a member", user: member, token: team.UserToken(t, member)})
		}
		for _, scopes := range []string{`"read"`, `"write"`} {
			r := harness.Call(t, "POST", team.Path("/users/"+team.Bob+"/keys"), team.UserToken(t, team.Bob), `{"key_name":"k","scopes":[`+scopes+`]}`)
			key, _ := harness.At(r.Body, "data", "raw_key").(string)
			w.callers = append(w.callers, caller{name: "a key of " + scopes, user: team.Bob, key: key})
		}
		if i == 2 {
			harness.Call(t, "PATCH", team.Path(""), team.Platform, `{"status":"SUSPENDED"}`)
		}
	}
	return w
}

// furnish gives an account projects, custom roles, a group and assignments at random.
func (w *doorsWorld) furnish(t *testing.T, s *harness.Team, random *rand.Rand) {
	t.Helper()
	names := []string{s.Project}
	for i := range 2 {
		id, _ := harness.At(s.Must(t, 201, "POST", "/projects", fmt.Sprintf(`{"name":"P%d"}`, i)).Body, "project", "id").(string)
		names = append(names, id)
	}
	w.projects, w.names[s.Account] = append(w.projects, names...), names
	roles := []string{"account_admin", "account_reader", "team_member", "project_admin", "project_reader"}
	for i, body := range []string{
		`"scope":"ACCOUNT","permissions":["account:*:read","project:instance:*"]`, `"scope":"PROJECT","permissions":["project:instance:start"]`,
		`"scope":"RESOURCE","permissions":["resource:*:*"]`, `"scope":"PROJECT","permissions":["project:*:*"],"status":"INACTIVE"`,
	} {
		r := s.Must(t, 201, "POST", "/roles", fmt.Sprintf(`{"name":"r%d",%s}`, i, body))
		if id, _ := harness.At(r.Body, "role", "id").(string); id != "" {
			roles = append(roles, id)
		}
	}
	group, _ := harness.At(s.Must(t, 201, "POST", "/groups", `{"name":"g"}`).Body, "group", "id").(string)
	s.Must(t, 200, "PUT", "/groups/"+group+"/members/"+s.Dan, "")
	assigned := 0
	for range 24 { // some do not fit: a role of a project at account level, say
		body, assignee := `{}`, []string{s.Bob, s.Carol, group}[random.IntN(3)]
		if assignee == group {
			body = `{"assigneeType":"IAMGROUP"}`
		}
		place := append(names, "")[random.IntN(4)]
		if r := s.Do(t, "PUT", harness.AssignmentPath(roles[random.IntN(len(roles))], assignee, place), body); r.Status == 200 {
			assigned++
		}
	}
	if assigned < 3 {
		t.Fatalf("%d assignments", assigned)
	}
	s.Must(t, 200, "DELETE", "/projects/"+names[2], "")
}
