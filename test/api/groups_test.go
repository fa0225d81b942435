package api_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestGroupGivesItsRolesToItsMembers: joining, leaving and deleting it count at once.
func TestGroupGivesItsRolesToItsMembers(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	place := "/projects/" + s.Project + "/instances"
	r := s.Must(t, 201, "POST", "/groups", `{"name":"ops","description":"on call"}`)
	harness.WantFields(t, "the answer", r.Body, "group")
	harness.WantFields(t, "the group", r.Body["group"], "id", "account_id", "name", "description", "created_at", "updated_at")
	harness.WantTimes(t, r.Body["group"], "created_at", "updated_at")
	id, _ := harness.At(r.Body, "group", "id").(string)
	s.Must(t, 200, "PUT", harness.AssignmentPath("project_reader", id, s.Project), `{"assigneeType":"IAMGROUP"}`)
	may := func(want bool, user string) {
		t.Helper()
		if got := s.Allowed(t, user, "project:instance:read", place); got != want {
			t.Errorf("%s: allowed=%t", user, got)
		}
	}
	may(false, s.Bob)
	for range 2 {
		r := s.Must(t, 200, "PUT", "/groups/"+id+"/members/"+s.Bob, "")
		harness.WantFields(t, "the answer", r.Body, "success", "message")
		may(true, s.Bob)
	}
	s.Must(t, 200, "PUT", "/groups/"+id+"/members/"+s.Carol, "")
	may(true, s.Carol)
	for range 2 {
		s.Must(t, 200, "DELETE", "/groups/"+id+"/members/"+s.Bob, "")
		may(false, s.Bob)
	}
	may(true, s.Carol)
	s.Must(t, 200, "DELETE", "/groups/"+id, "")
	may(false, s.Carol)
	harness.WantRefusal(t, s.Do(t, "GET", "/groups/"+id, ""), 404, "NOT_FOUND")
	s.Must(t, 201, "POST", "/groups", `{"name":"ops"}`) // its name is free, and it inherits nothing
	may(false, s.Carol)
}

// TestGroupsAndMembersAreListed page by page.
func TestGroupsAndMembersAreListed(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	var id string
	for i := range 3 {
		r := s.Must(t, 201, "POST", "/groups", fmt.Sprintf(`{"name":"g%d"}`, i))
		id, _ = harness.At(r.Body, "group", "id").(string)
	}
	for _, user := range []string{s.Bob, s.Carol, s.Dan} {
		s.Must(t, 200, "PUT", "/groups/"+id+"/members/"+user, "")
	}
	for rest, want := range map[string]struct {
		list, field string
		values      []string
	}{
		"/groups":                    {"groups", "name", []string{"g0", "g1", "g2"}},
		"/groups/" + id + "/members": {"members", "user_id", []string{s.Bob, s.Carol, s.Dan}},
	} {
		var got []string
		token := ""
		for range 3 {
			r := s.Must(t, 200, "GET", rest+"?page_size=2&page_token="+token, "")
			harness.WantFields(t, rest, r.Body, want.list, "total_count", "next_page_token")
			got = append(got, harness.Texts(r.Body[want.list], want.field)...)
			if token, _ = r.Body["next_page_token"].(string); token == "" || fmt.Sprint(r.Body["total_count"]) != "3" {
				break
			}
		}
		if slices.Sort(got); !slices.Equal(got, want.values) {
			t.Errorf("%s: %v", rest, got)
		}
	}
	r := s.Must(t, 200, "GET", "/groups/"+id+"/members", "")
	harness.WantFields(t, "a member", harness.At(r.Body, "members", 0), "user_id", "added_at")
	if r := s.Must(t, 200, "GET", "/groups/"+id, ""); harness.At(r.Body, "group", "name") != "g2" {
		t.Errorf("%s", r.Raw)
	}
	// A page token of one list is refused by the other.
	page, _ := s.Must(t, 200, "GET", "/groups?page_size=1", "").Body["next_page_token"].(string)
	harness.WantRefusal(t, s.Do(t, "GET", "/groups/"+id+"/members?page_token="+page, ""), 400, "BAD_REQUEST")
}

// TestGroupThatCannotBe is refused.
func TestGroupThatCannotBe(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	r := s.Must(t, 201, "POST", "/groups", `{"name":"taken"}`)
	id, _ := harness.At(r.Body, "group", "id").(string)
	admins := s.Must(t, 201, "POST", "/groups", `{"name":"admins"}`)
	adminsID, _ := harness.At(admins.Body, "group", "id").(string)
	s.Must(t, 200, "PUT", harness.AssignmentPath("account_admin", adminsID, ""), `{"assigneeType":"IAMGROUP"}`)
	role := s.Must(t, 201, "POST", "/roles", `{"name":"grouper","scope":"ACCOUNT","permissions":["account:group:update","account:group:read"]}`).Body["id"].(string)
	s.Grant(t, role, s.Bob, "")
	bob := s.UserToken(t, s.Bob)
	for name, c := range map[string]struct {
		token, method, rest, body string
		status                    int
		code                      string
	}{
		"409 name in use":               {s.AdminToken, "POST", "/groups", `{"name":"taken"}`, 409, "CONFLICT"},
		"400 no name":                   {s.AdminToken, "POST", "/groups", `{"name":""}`, 400, "BAD_REQUEST"},
		"404 absent member":             {s.AdminToken, "PUT", "/groups/" + id + "/members/user-absent-v1", "", 404, "NOT_FOUND"},
		"404 absent group":              {s.AdminToken, "PUT", "/groups/group-absent-v1/members/" + s.Bob, "", 404, "NOT_FOUND"},
		"403 joining a group of admins": {bob, "PUT", "/groups/" + adminsID + "/members/" + s.Bob, "", 403, "FORBIDDEN"},
		"403 making one":                {bob, "POST", "/groups", `{"name":"bobs"}`, 403, "FORBIDDEN"},
	} {
		t.Run(name, func(t *testing.T) {
			harness.WantRefusal(t, harness.Call(t, c.method, s.Path(c.rest), c.token, c.body), c.status, c.code)
		})
	}
}
