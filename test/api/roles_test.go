package api_test

import (
	"fmt"
	"slices"
	"testing"
)

// TestRolesAreListed: system roles first, then the account's own by name, with meta.
func TestRolesAreListed(t *testing.T) {
	t.Parallel()
	s := newTeam(t)
	for _, name := range []string{"beta", "alpha"} {
		s.must(t, 201, "POST", "/roles", fmt.Sprintf(`{"name":%q,"scope":"ACCOUNT","permissions":["account:user:read"]}`, name))
	}
	s.must(t, 201, "POST", "/roles", fmt.Sprintf(`{"name":"gamma","scope":"PROJECT","permissions":["project:instance:read"],"projectId":%q,"status":"INACTIVE"}`, s.Project))
	r := s.must(t, 200, "GET", "/roles", "")
	wantFields(t, "the answer", r.Body, "data", "meta")
	wantFields(t, "meta", r.Body["meta"], "total", "page", "pageSize", "totalPages")
	if got := fmt.Sprint(r.Body["meta"]); got != "map[page:1 pageSize:20 total:8 totalPages:1]" {
		t.Error(got)
	}
	ids, names := texts(r.Body["data"], "id"), texts(r.Body["data"], "name")
	system := []string{"account_admin", "account_reader", "project_admin", "project_reader", "team_member"}
	if got := slices.Sorted(slices.Values(ids[:5])); !slices.Equal(got, system) || !slices.Equal(names[5:], []string{"alpha", "beta", "gamma"}) {
		t.Errorf("%v %v", ids, names)
	}
	wantFields(t, "a custom role", at(r.Body, "data", 7), "id", "name", "scope", "status", "isCustom", "permissions", "accountId", "projectId", "createdBy", "createdAt", "updatedAt")
	wantTimes(t, at(r.Body, "data", 7), "createdAt", "updatedAt")
	if at(r.Body, "data", 7, "isCustom") != true || at(r.Body, "data", 0, "isCustom") != false {
		t.Errorf("isCustom: %s", r.Raw)
	}
	for query, want := range map[string]int{
		"scope=ACCOUNT": 5, "scope=PROJECT": 3, "scope=RESOURCE": 0, "status=INACTIVE": 1, "status=ACTIVE": 7,
		"pageSize=3": 3, "pageSize=3&page=3": 2, "page=9": 0,
	} {
		r := s.must(t, 200, "GET", "/roles?"+query, "")
		if data, ok := r.Body["data"].([]any); !ok || len(data) != want {
			t.Errorf("%s: %s", query, r.Raw)
		}
	}
	for _, query := range []string{"scope=account", "page=0", "pageSize=101", "page=1.0", "page_size=1", "scope[$ne]=X", "status=ACTIVE&status=ACTIVE", "projectId=a/b"} {
		wantRefusal(t, s.do(t, "GET", "/roles?"+query, ""), 400, "BAD_REQUEST")
	}
	wantRefusal(t, call(t, "GET", s.path("/roles"), s.userToken(t, s.Bob), ""), 403, "FORBIDDEN")
}

// TestCustomRoleGrantsWhatItSays: made, read, changed, deleted; what it grants
// follows at once.
func TestCustomRoleGrantsWhatItSays(t *testing.T) {
	t.Parallel()
	s := newTeam(t)
	r := s.must(t, 201, "POST", "/roles", `{"name":"starter","scope":"PROJECT","permissions":["project:instance:start"],"description":"may start"}`)
	wantFields(t, "the role", r.Body, "id", "name", "scope", "status", "isCustom", "permissions", "accountId", "description", "createdBy", "createdAt", "updatedAt")
	if r.Body["accountId"] != s.Account || r.Body["createdBy"] != s.Admin || r.Body["status"] != "ACTIVE" {
		t.Errorf("%s", r.Raw)
	}
	id, _ := r.Body["id"].(string)
	may := func(want bool, action string) {
		t.Helper()
		if got := s.allowed(t, s.Bob, action, "/projects/"+s.Project+"/instances"); got != want {
			t.Errorf("%s: allowed=%t", action, got)
		}
	}
	may(false, "project:instance:start")
	s.grant(t, id, s.Bob, s.Project)
	may(true, "project:instance:start")
	may(false, "project:instance:stop")
	s.must(t, 200, "PUT", "/roles/"+id, `{"name":"stopper","permissions":["project:instance:stop"]}`)
	may(false, "project:instance:start")
	may(true, "project:instance:stop")
	if r := s.must(t, 200, "GET", "/roles/"+id, ""); r.Body["name"] != "stopper" || r.Body["description"] != nil {
		t.Errorf("%s", r.Raw)
	}
	s.must(t, 200, "PUT", "/roles/"+id, `{"name":"stopper","permissions":["project:instance:stop"],"status":"INACTIVE"}`)
	may(false, "project:instance:stop")
	s.must(t, 200, "PUT", "/roles/"+id, `{"name":"stopper","permissions":["project:instance:stop"],"status":"ACTIVE"}`)
	may(true, "project:instance:stop")
	wantRefusal(t, s.do(t, "DELETE", "/roles/"+id, ""), 409, "CONFLICT")
	s.must(t, 200, "DELETE", assignmentPath(id, s.Bob, s.Project), "")
	r = s.must(t, 200, "DELETE", "/roles/"+id, "")
	wantFields(t, "the delete's answer", r.Body, "success", "message")
	wantRefusal(t, s.do(t, "GET", "/roles/"+id, ""), 404, "NOT_FOUND")
}

// TestRoleThatCannotBe is refused.
func TestRoleThatCannotBe(t *testing.T) {
	t.Parallel()
	s := newTeam(t)
	reader := s.must(t, 201, "POST", "/roles", `{"name":"role maker","scope":"ACCOUNT","permissions":["account:role:create","account:role:update"]}`).Body["id"].(string)
	s.grant(t, reader, s.Bob, "")
	bob := s.userToken(t, s.Bob)
	for name, c := range map[string]struct {
		token, body string
		status      int
		code        string
	}{
		"409 name in use":              {s.AdminToken, `{"name":"role maker","scope":"ACCOUNT","permissions":["account:user:read"]}`, 409, "CONFLICT"},
		"409 a system role's id":       {s.AdminToken, `{"name":"team_member","scope":"ACCOUNT","permissions":["account:user:read"]}`, 409, "CONFLICT"},
		"400 account:… in a PROJECT":   {s.AdminToken, `{"name":"x","scope":"PROJECT","permissions":["account:user:read"]}`, 400, "BAD_REQUEST"},
		"400 no pattern":               {s.AdminToken, `{"name":"x","scope":"ACCOUNT","permissions":[]}`, 400, "BAD_REQUEST"},
		"400 a key twice":              {s.AdminToken, `{"name":"x","name":"y","scope":"ACCOUNT","permissions":["account:user:read"]}`, 400, "BAD_REQUEST"},
		"403 more than the maker has":  {bob, `{"name":"x","scope":"ACCOUNT","permissions":["account:user:read"]}`, 403, "FORBIDDEN"},
		"403 everything":               {bob, `{"name":"x","scope":"ACCOUNT","permissions":["*:*:*"]}`, 403, "FORBIDDEN"},
		"201 what the maker has":       {bob, `{"name":"x","scope":"ACCOUNT","permissions":["account:role:create"]}`, 201, ""},
		"403 nobody's: other services": {s.Checker, `{"name":"z","scope":"ACCOUNT","permissions":["account:user:read"]}`, 403, "FORBIDDEN"},
	} {
		t.Run(name, func(t *testing.T) {
			r := call(t, "POST", s.path("/roles"), c.token, c.body)
			if c.code != "" {
				wantRefusal(t, r, c.status, c.code)
			} else if r.Status != c.status {
				t.Errorf("%d %s", r.Status, r.Raw)
			}
		})
	}
	for _, method := range []string{"PUT", "DELETE"} {
		body := map[string]string{"PUT": `{"name":"x","permissions":["account:user:read"]}`}[method]
		wantRefusal(t, s.do(t, method, "/roles/account_admin", body), 403, "FORBIDDEN")
		wantRefusal(t, s.do(t, method, "/roles/role-absent-v1", body), 404, "NOT_FOUND")
	}
	// Bob makes his own role wider.
	wantRefusal(t, call(t, "PUT", s.path("/roles/"+reader), bob, `{"name":"role maker","permissions":["account:*:*"]}`), 403, "FORBIDDEN")
}
