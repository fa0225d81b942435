package api_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestRolesAreListed: system roles first, then the account's own by name, with meta.
func TestRolesAreListed(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	for _, name := range []string{"beta", "alpha"} {
		s.Must(t, 201, "POST", "/roles", fmt.Sprintf(`{"name":%q,"scope":"ACCOUNT","permissions":["account:user:read"]}`, name))
	}
	s.Must(t, 201, "POST", "/roles", fmt.Sprintf(`{"name":"gamma","scope":"PROJECT","permissions":["project:instance:read"],"projectId":%q,"status":"INACTIVE"}`, s.Project))
	r := s.Must(t, 200, "GET", "/roles", "")
	harness.WantFields(t, "the answer", r.Body, "data", "meta")
	harness.WantFields(t, "meta", r.Body["meta"], "total", "page", "pageSize", "totalPages")
	if got := fmt.Sprint(r.Body["meta"]); got != "map[page:1 pageSize:20 total:8 totalPages:1]" {
		t.Error(got)
	}
	ids, names := harness.Texts(r.Body["data"], "id"), harness.Texts(r.Body["data"], "name")
	system := []string{"account_admin", "account_reader", "project_admin", "project_reader", "team_member"}
	if got := slices.Sorted(slices.Values(ids[:5])); !slices.Equal(got, system) || !slices.Equal(names[5:], []string{"alpha", "beta", "gamma"}) {
		t.Errorf("%v %v", ids, names)
	}
	harness.WantFields(t, "a custom role", harness.At(r.Body, "data", 7), "id", "name", "scope", "status", "isCustom", "permissions", "accountId", "projectId", "createdBy", "createdAt", "updatedAt")
	harness.WantTimes(t, harness.At(r.Body, "data", 7), "createdAt", "updatedAt")
	if harness.At(r.Body, "data", 7, "isCustom") != true || harness.At(r.Body, "data", 0, "isCustom") != false {
		t.Errorf("isCustom: %s", r.Raw)
	}
	r = s.Must(t, 200, "GET", "/roles?scope=ACCOUNT&status=ACTIVE&projectId=&pageSize=3&page=2", "")
	if data, _ := r.Body["data"].([]any); len(data) != 2 {
		t.Errorf("the second page of five: %s", r.Raw)
	}
	harness.WantRefusal(t, s.Do(t, "GET", "/roles?scope=account", ""), 400, "BAD_REQUEST")
	harness.WantRefusal(t, harness.Call(t, "GET", s.Path("/roles"), s.UserToken(t, s.Bob), ""), 403, "FORBIDDEN")
}

// TestCustomRoleGrantsWhatItSays: made, read, changed, deleted; what it grants
// follows at once.
func TestCustomRoleGrantsWhatItSays(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	r := s.Must(t, 201, "POST", "/roles", `{"name":"starter","scope":"PROJECT","permissions":["project:instance:start"],"description":"may start"}`)
	harness.WantFields(t, "the role", r.Body, "id", "name", "scope", "status", "isCustom", "permissions", "accountId", "description", "createdBy", "createdAt", "updatedAt")
	if r.Body["accountId"] != s.Account || r.Body["createdBy"] != s.Admin || r.Body["status"] != "ACTIVE" {
		t.Errorf("%s", r.Raw)
	}
	id, _ := r.Body["id"].(string)
	may := func(want bool, action string) {
		t.Helper()
		if got := s.Allowed(t, s.Bob, action, "/projects/"+s.Project+"/instances"); got != want {
			t.Errorf("%s: allowed=%t", action, got)
		}
	}
	may(false, "project:instance:start")
	s.Grant(t, id, s.Bob, s.Project)
	may(true, "project:instance:start")
	may(false, "project:instance:stop")
	s.Must(t, 200, "PUT", "/roles/"+id, `{"name":"stopper","permissions":["project:instance:stop"]}`)
	may(false, "project:instance:start")
	may(true, "project:instance:stop")
	if r := s.Must(t, 200, "GET", "/roles/"+id, ""); r.Body["name"] != "stopper" || r.Body["description"] != nil {
		t.Errorf("%s", r.Raw)
	}
	s.Must(t, 200, "PUT", "/roles/"+id, `{"name":"stopper","permissions":["project:instance:stop"],"status":"INACTIVE"}`)
	may(false, "project:instance:stop")
	s.Must(t, 200, "PUT", "/roles/"+id, `{"name":"stopper","permissions":["project:instance:stop"],"status":"ACTIVE"}`)
	may(true, "project:instance:stop")
	harness.WantRefusal(t, s.Do(t, "DELETE", "/roles/"+id, ""), 409, "CONFLICT")
	s.Must(t, 200, "DELETE", harness.AssignmentPath(id, s.Bob, s.Project), "")
	r = s.Must(t, 200, "DELETE", "/roles/"+id, "")
	harness.WantFields(t, "the delete's answer", r.Body, "success", "message")
	harness.WantRefusal(t, s.Do(t, "GET", "/roles/"+id, ""), 404, "NOT_FOUND")
}

// TestRoleThatCannotBe is refused.
func TestRoleThatCannotBe(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	reader := s.Must(t, 201, "POST", "/roles", `{"name":"role maker","scope":"ACCOUNT","permissions":["account:role:create","account:role:update"]}`).Body["id"].(string)
	s.Grant(t, reader, s.Bob, "")
	bob := s.UserToken(t, s.Bob)
	for name, c := range map[string]struct {
		token, body string
		status      int
		code        string
	}{
		"409 name in use":              {s.AdminToken, `{"name":"role maker","scope":"ACCOUNT","permissions":["account:user:read"]}`, 409, "CONFLICT"},
		"400 no pattern":               {s.AdminToken, `{"name":"x","scope":"ACCOUNT","permissions":[]}`, 400, "BAD_REQUEST"},
		"400 a key twice":              {s.AdminToken, `{"name":"x","name":"y","scope":"ACCOUNT","permissions":["account:user:read"]}`, 400, "BAD_REQUEST"},
		"403 more than the maker has":  {bob, `{"name":"x","scope":"ACCOUNT","permissions":["account:user:read"]}`, 403, "FORBIDDEN"},
		"201 what the maker has":       {bob, `{"name":"x","scope":"ACCOUNT","permissions":["account:role:create"]}`, 201, ""},
		"403 nobody's: other services": {s.Checker, `{"name":"z","scope":"ACCOUNT","permissions":["account:user:read"]}`, 403, "FORBIDDEN"},
	} {
		t.Run(name, func(t *testing.T) {
			r := harness.Call(t, "POST", s.Path("/roles"), c.token, c.body)
			if c.code != "" {
				harness.WantRefusal(t, r, c.status, c.code)
			} else if r.Status != c.status {
				t.Errorf("%d %s", r.Status, r.Raw)
			}
		})
	}
	for _, method := range []string{"PUT", "DELETE"} {
		body := map[string]string{"PUT": `{"name":"x","permissions":["account:user:read"]}`}[method]
		harness.WantRefusal(t, s.Do(t, method, "/roles/account_admin", body), 403, "FORBIDDEN")
		harness.WantRefusal(t, s.Do(t, method, "/roles/role-absent-v1", body), 404, "NOT_FOUND")
	}
	// Bob makes his own role wider.
	harness.WantRefusal(t, harness.Call(t, "PUT", s.Path("/roles/"+reader), bob, `{"name":"role maker","permissions":["account:*:*"]}`), 403, "FORBIDDEN")
}

// TestActionsAreListed for members of any account and role, and for nobody else.
func TestActionsAreListed(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	key, _ := newKey(t, s.Scene, s.Admin, readOnly)
	for _, token := range []string{s.UserToken(t, s.Dan), key} {
		r := harness.Call(t, "GET", s.URL+"/api/v1/actions", token, "")
		if r.Status != 200 {
			t.Fatalf("%d %s", r.Status, r.Raw)
		}
		harness.WantFields(t, "the answer", r.Body, "actions")
		actions := harness.Texts(r.Body["actions"], "action")
		index := slices.Index(actions, "account:change:read")
		if index < 0 || !slices.IsSorted(actions) {
			t.Fatalf("%v", actions)
		}
		item := harness.At(r.Body, "actions", index)
		if got, want := fmt.Sprint(item), "map[action:account:change:read description: patterns:[account:*:* account:*:read] "+
			"routes:[map[method:GET name:change.list path:/api/v1/accounts/{accountId}/changes]] scope:account]"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	harness.WantRefusal(t, harness.Call(t, "GET", s.URL+"/api/v1/actions?q=x", s.AdminToken, ""), 400, "BAD_REQUEST")
	harness.WantRefusal(t, harness.Call(t, "GET", s.URL+"/api/v1/actions", s.Checker, ""), 403, "FORBIDDEN")
	harness.WantRefusal(t, harness.Call(t, "GET", s.URL+"/api/v1/actions", "", ""), 401, "UNAUTHORIZED")
	s.Must(t, 200, "DELETE", "/users/"+s.Dan, "")
	harness.WantRefusal(t, harness.Call(t, "GET", s.URL+"/api/v1/actions", s.UserToken(t, s.Dan), ""), 403, "FORBIDDEN")
}
