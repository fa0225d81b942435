package api_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/contract"
	"github.com/portcullis-authz/portcullis/test/harness"
)

// claimed are the headers of a truthful caller, if the row wants them.
func claimed(row contract.Row, account string, headers ...string) []string {
	if row.Claims {
		headers = append(headers, "X-Account-ID", account)
	}
	return headers
}

// filled is the row's path with values for its parameters; ids below the account are
// those of s.
func filled(row contract.Row, account string, s *harness.Team) string {
	path := row.Pattern()
	for name, value := range map[string]string{
		"{accountId}": account, "{account_id}": account, "{projectId}": s.Project, "{roleId}": "account_admin", "{groupId}": "group-x-v1", "{agentId}": "agent-x-v1",
		"{userId}": s.Bob, "{user_id}": s.Bob, "{assigneeId}": s.Bob, "{id}": "x-1-v1", "{ruleId}": "x-2-v1", "{claimId}": "x-3-v1", "{approvalId}": "approval-x-v1", "{proxy+}": "x", "{asset}": "start.css",
	} {
		path = strings.ReplaceAll(path, name, value)
	}
	return path
}

// code is the error's, in the shape of the row's area.
func code(row contract.Row, r harness.Reply) string {
	where := []any{"error", "code"}
	if row.Area == "firewall" {
		where = where[1:]
	}
	code, _ := harness.At(r.Body, where...).(string)
	return code
}

func namesAccount(row contract.Row) bool { return strings.Contains(row.Path, "{account") }

// TestAnotherAccountIsAnsweredLikeAnAbsentOne covers every route of the catalogue with an account,
// for an admin, a member and a service of too small a scope. It guarantees a 403 with the same
// bytes but for the caller's own ids.
func TestAnotherAccountIsAnsweredLikeAnAbsentOne(t *testing.T) {
	t.Parallel()
	g := harness.Shared(t)
	s, other := harness.NewTeam(t), harness.NewTeam(t)
	const absent = "acct-absent-v1"
	rows := contract.Catalogue(t)
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		row := rows[name]
		if !namesAccount(row) {
			continue
		}
		t.Run("403 "+name, func(t *testing.T) {
			for caller, token := range map[string]string{"an admin": other.AdminToken, "a member": g.UserToken(t, other.Dan), "a service": other.Checker} {
				var bodies []string
				for _, account := range []string{s.Account, absent} {
					r := harness.Call(t, row.Method, g.URL+filled(row, account, s), token, "", claimed(row, account, "X-Request-ID", "tenancy")...)
					if r.Status != 403 || r.Header.Get("X-Request-ID") != "tenancy" {
						t.Errorf("%s, %s: %d %s", caller, account, r.Status, r.Raw)
					}
					bodies = append(bodies, strings.ReplaceAll(string(r.Raw), account, "ACCOUNT"))
				}
				if bodies[0] != bodies[1] {
					t.Errorf("%s sees which account exists:\n%s\n%s", caller, bodies[0], bodies[1])
				}
				if strings.Contains(bodies[0], s.Admin) {
					t.Errorf("%s sees another account's user: %s", caller, bodies[0])
				}
			}
		})
	}
}

// TestEveryRouteWantsACredential: none and a wrong one are 401 with WWW-Authenticate,
// whether what the path names exists or not; public routes want none.
func TestEveryRouteWantsACredential(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	broken := harness.OtherEnding(s.AdminToken)
	for name, row := range contract.Catalogue(t) {
		if slices.Contains(row.Access, "public") {
			want := 200
			if name == "authzen.configuration_of_path" || name == "mcp.resource_metadata" { // it is another path, and no MCP server
				want = 404
			}
			if r := harness.Call(t, row.Method, s.URL+filled(row, s.Account, s), "", ""); r.Status != want {
				t.Errorf("%s is public: %d %s", name, r.Status, r.Raw)
			}
			continue
		}
		t.Run("401 "+name, func(t *testing.T) {
			for credential, token := range map[string]string{"no credential": "", "a broken token": broken, "garbage": "x"} {
				var bodies []string
				for _, account := range []string{s.Account, "acct-absent-v1"} {
					r := harness.Call(t, row.Method, s.URL+filled(row, account, s), token, "")
					if r.Status != 401 || code(row, r) == "" {
						t.Errorf("%s: %d %s", credential, r.Status, r.Raw)
					}
					if sent := token != ""; row.Area == "users" && (code(row, r) == "AUTH_002") != sent {
						t.Errorf("%s: %s", credential, r.Raw)
					}
					challenge, _, _ := strings.Cut(r.Header.Get("WWW-Authenticate"), " ") // that of a resource says more
					if challenge != "Bearer" {
						t.Errorf("%s: WWW-Authenticate %q", credential, r.Header.Get("WWW-Authenticate"))
					}
					bodies = append(bodies, string(r.Raw))
				}
				if bodies[0] != bodies[1] {
					t.Errorf("%s: %s, %s", credential, bodies[0], bodies[1])
				}
			}
		})
	}
}

// TestWrongMethodSaysWhichAreRight: 405 with Allow for every path of the catalogue, also
// without a credential; an unknown path is 404.
func TestWrongMethodSaysWhichAreRight(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	rows := contract.Catalogue(t)
	methods := map[string][]string{}
	for _, row := range rows {
		if row.Any {
			continue
		}
		methods[row.Path] = append(methods[row.Path], row.Method)
	}
	for path := range methods {
		filled := filled(contract.Row{Path: path}, s.Account, s)
		var allowed []string // by another pattern too: an id may read like a word
		for other, more := range methods {
			if fits(other, filled) {
				allowed = append(allowed, more...)
			}
		}
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"} {
			if slices.Contains(allowed, method) {
				continue
			}
			r := harness.Call(t, method, s.URL+filled, "", "")
			if r.Status != 405 || r.Header.Get("Allow") == "" {
				t.Errorf("%s %s: %d %s", method, path, r.Status, r.Raw)
			}
			for _, right := range allowed {
				if !slices.Contains(strings.Split(r.Header.Get("Allow"), ", "), right) {
					t.Errorf("%s %s: Allow %q lacks %s", method, path, r.Header.Get("Allow"), right)
				}
			}
			if method != "HEAD" { // the same body in every area, since no route was found
				harness.WantRefusal(t, r, 405, "METHOD_NOT_ALLOWED")
			}
		}
	}
	for _, path := range []string{"/", "/api", "/api/v1", "/api/v1/accounts/", "/api/v1/accounts/" + s.Account + "/roles/", "/API/v1/accounts", "/api/v1/accounts/" + s.Account + "/secrets"} {
		harness.WantRefusal(t, harness.Call(t, "GET", s.URL+path, s.AdminToken, ""), 404, "NOT_FOUND")
	}
}

// fits says whether a path has the pattern's form.
func fits(pattern, path string) bool {
	want, have := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(have) {
		return false
	}
	for i, segment := range want {
		if !strings.HasPrefix(segment, "{") && segment != have[i] {
			return false
		}
	}
	return true
}

// TestIDsOfAnotherAccountAreNotThere guarantees, on every route with such an id, that somebody
// else's group, role or user below one's own account is answered like an unknown one.
func TestIDsOfAnotherAccountAreNotThere(t *testing.T) {
	t.Parallel()
	s, other := harness.NewTeam(t), harness.NewTeam(t)
	group, _ := harness.At(s.Must(t, 201, "POST", "/groups", `{"name":"g"}`).Body, "group", "id").(string)
	agent, _ := harness.At(s.Must(t, 201, "POST", "/agents", `{"name":"a"}`).Body, "agent", "id").(string)
	role, _ := s.Must(t, 201, "POST", "/roles", `{"name":"r","scope":"ACCOUNT","permissions":["account:user:read"]}`).Body["id"].(string)
	body := map[string]string{
		"project.update": `{"name":"N"}`, "user_profile.update": `{"name":"N"}`, "api_key.create": `{"key_name":"k","scopes":["read"]}`, "role.replace": `{"name":"N","permissions":["account:user:read"]}`, "role_assignment.put": `{}`,
		"agent.update": `{"name":"N"}`, "delegation.put": `{"permissions":["project:*:read"]}`, "approval.update": `{"status":"DENIED"}`,
	}
	for name, row := range contract.Catalogue(t) {
		if !namesAccount(row) || strings.Count(row.Path, "{") < 2 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			ask := func(project, role, group, agent, user string) (string, int) {
				path := row.Pattern()
				ids := map[string]string{
					"{projectId}": project, "{roleId}": role, "{groupId}": group, "{agentId}": agent, "{userId}": user, "{user_id}": user, "{assigneeId}": user, "{id}": "apikey-x-v1", "{approvalId}": "approval-x-v1", "{ruleId}": "sgr-x-v1",
				}
				path = strings.NewReplacer("{accountId}", other.Account, "{account_id}", other.Account).Replace(path)
				for param, id := range ids {
					path = strings.ReplaceAll(path, param, id)
				}
				r := harness.Call(t, row.Method, other.URL+path, other.AdminToken, body[name], claimed(row, other.Account)...)
				text := string(r.Raw)
				for _, id := range ids {
					text = strings.ReplaceAll(text, id, "ID")
				}
				return text, r.Status
			}
			foreign, status := ask(s.Project, role, group, agent, s.Bob)
			absent, absentStatus := ask("proj-absent-v1", "role-absent-v1", "group-absent-v1", "agent-absent-v1", "user-absent-v1")
			if foreign != absent || status != absentStatus || (status != 404 && status != 403) {
				t.Errorf("another account's: %d %s\nabsent: %d %s", status, foreign, absentStatus, absent)
			}
		})
	}
	for _, rest := range []string{"/groups/" + group, "/roles/" + role, "/agents/" + agent} {
		s.Must(t, 200, "GET", rest, "") // it is still there
	}
}
