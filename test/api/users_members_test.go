package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// rolesOf are the user's roles by role_assignment.list_of_user, sorted; nil if the account has no such user.
func rolesOf(t testing.TB, s *harness.Scene, user string) []string {
	t.Helper()
	r := s.Do(t, "GET", "/roles/users/"+user, "")
	if r.Status == 404 {
		return nil
	}
	out := harness.Texts(r.Body["data"], "roleId")
	slices.Sort(out)
	return out
}

// TestRemovedMemberKeepsNothing: roles, groups and keys end in one step, the former
// member is somebody else to the account, and who comes back begins anew.
func TestRemovedMemberKeepsNothing(t *testing.T) {
	t.Parallel()
	p := newPeople(t)
	group, _ := harness.At(p.Must(t, 201, "POST", "/groups", `{"name":"g"}`).Body, "group", "id").(string)
	p.Must(t, 200, "PUT", "/groups/"+group+"/members/"+p.Bob, "")
	p.Must(t, 200, "PUT", harness.AssignmentPath("project_admin", group, p.Project), `{"assigneeType":"IAMGROUP"}`)
	p.Grant(t, "project_reader", p.Bob, p.Project)
	p.Grant(t, "account_reader", p.Bob, "")
	key, _ := newKey(t, p.Scene, p.Bob, readWrite)
	token, profile, rest := p.UserToken(t, p.Bob), "/users/"+p.Bob+"/profile", "/projects/"+p.Project+"/x"
	if !p.Allowed(t, p.Bob, "project:x:create", rest) || !p.Allowed(t, p.Bob, "account:user:read", "") {
		t.Fatal("what was granted does not count")
	}
	harness.WantMessage(t, "user.remove", p.Do(t, "DELETE", "/users/"+p.Bob, ""))
	gone := func(when string) {
		if p.Allowed(t, p.Bob, "project:x:read", rest) || p.Allowed(t, p.Bob, "project:x:create", rest) {
			t.Errorf("%s: authorization.check allows what was granted before", when)
		}
		wantUserRefusal(t, when+": the key", p.call(t, "GET", profile, key, ""), 401, "AUTH_002")
		if n := fmt.Sprint(p.Must(t, 200, "GET", "/groups/"+group+"/members", "").Body["total_count"]); n != "0" {
			t.Errorf("%s: the group has %s members", when, n)
		}
	}
	gone("after")
	for name, r := range map[string]harness.Reply{"user_profile.get": p.call(t, "GET", profile, token, ""), "user.list": p.call(t, "GET", "/users", token, ""), "api_key.list": p.call(t, "GET", "/users/"+p.Bob+"/keys", token, ""), "user.remove": p.call(t, "DELETE", "/users/"+p.Bob, token, "")} {
		wantUserRefusal(t, name+" by the former member", r, 403, "AUTH_003")
	}
	wantUserRefusal(t, "user.remove again", p.Do(t, "DELETE", "/users/"+p.Bob, ""), 404, "USER_001")
	if account, ok := p.record(t, p.Bob)["account_id"]; ok {
		t.Errorf("a member of %v", account)
	}
	harness.WantMessage(t, "user.invite", p.Invite(t, p.Bob+"@team.example"))
	gone("back")
	if roles := rolesOf(t, p.Scene, p.Bob); !slices.Equal(roles, []string{"team_member"}) {
		t.Errorf("back with the roles %v", roles)
	}
	if r := p.call(t, "GET", "/users/"+p.Bob+"/keys", token, ""); string(r.Raw) != `{"success":true,"data":{"keys":[]}}` {
		t.Errorf("back with keys: %s", r.Raw)
	}
}

// TestUsersAreSearched by those alone who may list them, in their account.
func TestUsersAreSearched(t *testing.T) {
	t.Parallel()
	s, other := harness.NewTeam(t), harness.NewTeam(t)
	r := s.Must(t, 200, "GET", "/users?q="+strings.ToUpper(s.Bob)+"&page_size=5", "")
	if got := harness.Texts(r.Body["users"], "id"); !slices.Equal(got, []string{s.Bob}) || r.Body["next_page_token"] != "" {
		t.Errorf("%s", r.Raw)
	}
	for _, q := range []string{other.Bob, "%7B%22$ne%22%3Anull%7D", "%25", "_", ".", "%25" + s.Bob[1:]} {
		if r := s.Must(t, 200, "GET", "/users?q="+q, ""); len(harness.Texts(r.Body["users"], "id")) != 0 {
			t.Errorf("%s: %s", q, r.Raw)
		}
	}
	for token, status := range map[string]int{s.UserToken(t, s.Dan): 403, other.AdminToken: 403, s.Checker: 403, "": 401} {
		if r := harness.Call(t, "GET", s.Path("/users?q="+s.Bob), token, ""); r.Status != status {
			t.Errorf("%d, want %d: %s", r.Status, status, r.Raw)
		}
	}
	if r := s.Do(t, "GET", "/users?q=%ff", ""); r.Status != 400 {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
}
