package api_test

import (
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestAssignmentIsMadeReplacedAndRevoked: each in force at once.
func TestAssignmentIsMadeReplacedAndRevoked(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	place := "/projects/" + s.Project + "/instances"
	r := s.Must(t, 200, "PUT", harness.AssignmentPath("project_reader", s.Bob, s.Project), `{"assigneeType":"USER"}`)
	harness.WantFields(t, "the assignment", r.Body, "assigneeId", "assigneeType", "roleId", "projectId", "status", "createdAt", "updatedAt")
	harness.WantTimes(t, r.Body, "createdAt", "updatedAt")
	if r.Body["assigneeId"] != s.Bob || r.Body["roleId"] != "project_reader" || r.Body["projectId"] != s.Project || r.Body["status"] != "ACTIVE" {
		t.Errorf("%s", r.Raw)
	}
	if !s.Allowed(t, s.Bob, "project:instance:read", place) || s.Allowed(t, s.Bob, "project:instance:create", place) {
		t.Error("a project_reader does not just read")
	}
	again := s.Must(t, 200, "PUT", harness.AssignmentPath("project_reader", s.Bob, s.Project), `{}`)
	if again.Body["createdAt"] != r.Body["createdAt"] {
		t.Errorf("a repeat made another one: %s", again.Raw)
	}
	s.Must(t, 200, "PUT", harness.AssignmentPath("project_admin", s.Bob, ""), fmt.Sprintf(`{"roleId":"project_reader","projectId":%q}`, s.Project))
	if !s.Allowed(t, s.Bob, "project:instance:create", place) {
		t.Error("the new role does not count")
	}
	held := s.Must(t, 200, "GET", "/roles/users/"+s.Bob, "")
	if got := harness.Texts(held.Body["data"], "roleId"); !slices.Equal(got, []string{"project_admin"}) {
		t.Errorf("after the replacement: %v", got)
	}
	r = s.Must(t, 200, "DELETE", harness.AssignmentPath("project_admin", s.Bob, s.Project), "")
	harness.WantFields(t, "the revoke's answer", r.Body, "success", "message")
	if r.Body["success"] != true || s.Allowed(t, s.Bob, "project:instance:read", place) {
		t.Errorf("the revoke: %s", r.Raw)
	}
	harness.WantRefusal(t, s.Do(t, "DELETE", harness.AssignmentPath("project_admin", s.Bob, s.Project), ""), 404, "NOT_FOUND")
}

// TestAssignmentThatCannotBe is refused, and makes nothing.
func TestAssignmentThatCannotBe(t *testing.T) {
	t.Parallel()
	s, other := harness.NewTeam(t), harness.NewTeam(t)
	foreign := other.Must(t, 201, "POST", "/roles", `{"name":"theirs","scope":"ACCOUNT","permissions":["account:user:read"]}`).Body["id"].(string)
	for name, c := range map[string]struct {
		path, body string
		status     int
	}{
		"404 another account's role":    {harness.AssignmentPath(foreign, s.Bob, ""), `{}`, 404},
		"404 another account's user":    {harness.AssignmentPath("team_member", other.Bob, ""), `{}`, 404},
		"400 another account's project": {harness.AssignmentPath("project_reader", s.Bob, other.Project), `{}`, 400},
		"403 the admin demotes itself":  {harness.AssignmentPath("team_member", s.Admin, ""), `{"roleId":"account_admin"}`, 403},
	} {
		t.Run(name, func(t *testing.T) {
			code := map[int]string{400: "BAD_REQUEST", 403: "FORBIDDEN", 404: "NOT_FOUND"}[c.status]
			harness.WantRefusal(t, s.Do(t, "PUT", c.path, c.body), c.status, code)
		})
	}
	if r := s.Must(t, 200, "GET", "/roles/users/"+s.Bob, ""); string(r.Raw) == "" || fmt.Sprint(harness.At(r.Body, "meta", "total")) != "0" {
		t.Errorf("a refused request made something: %s", r.Raw)
	}
	harness.WantRefusal(t, s.Do(t, "DELETE", harness.AssignmentPath("account_admin", s.Admin, ""), ""), 403, "FORBIDDEN")
	if !s.Allowed(t, s.Admin, "account:user:read", "") {
		t.Error("the last admin is gone")
	}
}

// TestAssignmentsOfAUserAreListed: direct ones and those through groups; oneself too.
func TestAssignmentsOfAUserAreListed(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	s.Grant(t, "team_member", s.Bob, "")
	s.Grant(t, "project_reader", s.Bob, s.Project)
	group := s.Must(t, 201, "POST", "/groups", `{"name":"g"}`)
	id, _ := harness.At(group.Body, "group", "id").(string)
	s.Must(t, 200, "PUT", "/groups/"+id+"/members/"+s.Bob, "")
	end := time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04:05.000Z")
	s.Must(t, 200, "PUT", harness.AssignmentPath("account_reader", id, ""), fmt.Sprintf(`{"assigneeType":"IAMGROUP","expiresAt":%q}`, end))
	r := harness.Call(t, "GET", s.Path("/roles/users/"+s.Bob), s.UserToken(t, s.Bob), "")
	if r.Status != 200 || fmt.Sprint(r.Body["meta"]) != "map[page:1 pageSize:20 total:3 totalPages:1]" {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
	member := harness.ItemWith(r.Body["data"], "roleId", "team_member")
	harness.WantFields(t, "an account-level item", member, "roleId", "projectId", "status", "createdAt", "updatedAt")
	harness.WantFields(t, "a group's item", harness.At(r.Body, "data", 2), "roleId", "projectId", "groupId", "status", "expiresAt", "createdAt", "updatedAt")
	if harness.At(member, "projectId") != "" || harness.At(r.Body, "data", 2, "groupId") != id || harness.At(r.Body, "data", 2, "expiresAt") != end {
		t.Errorf("%s", r.Raw)
	}
	for query, want := range map[string]string{"scope=PROJECT": "1", "projectId=" + s.Project: "1", "status=INACTIVE": "0", "status=ACTIVE&pageSize=2": "3"} {
		if r := s.Must(t, 200, "GET", "/roles/users/"+s.Bob+"?"+query, ""); fmt.Sprint(harness.At(r.Body, "meta", "total")) != want {
			t.Errorf("%s: %s", query, r.Raw)
		}
	}
	harness.WantRefusal(t, s.Do(t, "GET", "/roles/users/user-absent-v1", ""), 404, "NOT_FOUND")
	harness.WantRefusal(t, harness.Call(t, "GET", s.Path("/roles/users/"+s.Admin), s.UserToken(t, s.Dan), ""), 403, "FORBIDDEN")
	harness.WantRefusal(t, s.Do(t, "GET", "/roles/users/"+s.Bob+"?Status=ACTIVE", ""), 400, "BAD_REQUEST")
}

// TestHoldersOfARoleAreListed: users and groups, in the order in which they got it.
func TestHoldersOfARoleAreListed(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	group := s.Must(t, 201, "POST", "/groups", `{"name":"g"}`)
	id, _ := harness.At(group.Body, "group", "id").(string)
	s.Grant(t, "project_reader", s.Bob, s.Project)
	s.Must(t, 200, "PUT", harness.AssignmentPath("project_reader", id, s.Project), `{"assigneeType":"IAMGROUP","status":"INACTIVE"}`)
	r := s.Must(t, 200, "GET", "/roles/project_reader/assignments", "")
	harness.WantFields(t, "the answer", r.Body, "data", "meta")
	harness.WantFields(t, "an item", harness.At(r.Body, "data", 0), "assigneeId", "assigneeType", "roleId", "projectId", "status", "createdAt", "updatedAt")
	if got := harness.Texts(r.Body["data"], "assigneeId"); !slices.Contains(got, s.Bob) || !slices.Contains(got, id) || len(got) != 2 {
		t.Errorf("%s", r.Raw)
	}
	r = s.Must(t, 200, "GET", "/roles/project_admin/assignments", "")
	if data, ok := r.Body["data"].([]any); !ok || len(data) != 0 {
		t.Errorf("no holder is an empty list: %s", r.Raw)
	}
	harness.WantRefusal(t, s.Do(t, "GET", "/roles/role-absent-v1/assignments", ""), 404, "NOT_FOUND")
	harness.WantRefusal(t, harness.Call(t, "GET", s.Path("/roles/project_reader/assignments"), s.UserToken(t, s.Dan), ""), 403, "FORBIDDEN")
}

// TestAssignmentsAreListed guarantees the account's assignments by filter and page, for those alone who may read roles.
func TestAssignmentsAreListed(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	s.Grant(t, "project_reader", s.Bob, s.Project)
	s.Must(t, 200, "PUT", harness.AssignmentPath("project_admin", s.Bob, s.Project), `{"expiresAt":"2030-01-31T12:00:00Z"}`)
	r := s.Must(t, 200, "GET", "/assignments?assignee="+s.Bob+"&expires_before=2031-01-01T00:00:00Z&status=ACTIVE&role=project_admin&project="+s.Project, "")
	harness.WantFields(t, "the answer", r.Body, "assignments", "next_page_token")
	harness.WantFields(t, "an item", harness.At(r.Body, "assignments", 0), "assigneeId", "assigneeType", "roleId", "projectId", "status", "expiresAt", "createdAt", "updatedAt")
	if got := harness.Texts(r.Body["assignments"], "roleId"); !slices.Equal(got, []string{"project_admin"}) {
		t.Errorf("%s", r.Raw)
	}
	all := harness.Texts(s.Must(t, 200, "GET", "/assignments", "").Body["assignments"], "assigneeId")
	var paged []string
	for next := ""; len(paged) == 0 || next != ""; {
		r := s.Must(t, 200, "GET", "/assignments?page_size=1&page_token="+url.QueryEscape(next), "")
		paged, next = append(paged, harness.Texts(r.Body["assignments"], "assigneeId")...), fmt.Sprint(r.Body["next_page_token"])
	}
	if !slices.Equal(all, paged) || !slices.Contains(all, s.Admin) || len(all) < 3 {
		t.Errorf("%v, by pages %v", all, paged)
	}
	harness.WantRefusal(t, s.Do(t, "GET", "/assignments?roleId=x", ""), 400, "BAD_REQUEST")
	reader := s.Must(t, 201, "POST", "/roles", `{"name":"r","scope":"ACCOUNT","permissions":["account:role:read"]}`).Body["id"].(string)
	s.Grant(t, reader, s.Dan, "")
	for token, status := range map[string]int{s.UserToken(t, s.Bob): 403, s.UserToken(t, s.Dan): 200, s.Checker: 403, "": 401, harness.NewTeam(t).AdminToken: 403} {
		if r := harness.Call(t, "GET", s.Path("/assignments"), token, ""); r.Status != status {
			t.Errorf("%d, want %d: %s", r.Status, status, r.Raw)
		}
	}
}
