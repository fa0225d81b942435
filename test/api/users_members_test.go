package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
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

// TestInvitationMakesAMemberOnce guarantees INVITED, the team_member role and one mail. An invitation of a member of
// any status, in any letters, changes and sends nothing.
func TestInvitationMakesAMemberOnce(t *testing.T) {
	t.Parallel()
	p := newPeople(t)
	email := "Guest@" + p.Account + ".example"
	harness.WantMessage(t, "user.invite", p.Invite(t, email))
	found := harness.Call(t, "GET", p.URL+"/api/v1/users?email="+email, p.sync, "")
	id, _ := harness.At(found.Body, "users", 0, "external_id").(string)
	record := p.record(t, id)
	if record["status"] != "INVITED" || record["email"] != email || record["is_verified"] != false || record["account_id"] != p.Account {
		t.Errorf("%v", record)
	}
	if roles := rolesOf(t, p.Scene, id); !slices.Equal(roles, []string{"team_member"}) {
		t.Errorf("roles %v", roles)
	}
	setStatus(t, p.Scene, p.Bob, "SUSPENDED")
	p.Grant(t, "account_reader", p.Carol, "")
	for _, again := range []string{email, strings.ToLower(email), strings.ToUpper(p.Bob) + "@team.example", p.Carol + "@team.example", "ADMIN-" + strings.TrimSuffix(strings.TrimPrefix(p.Account, "acct-"), "-v1") + "@scene.example"} {
		harness.WantMessage(t, again, p.Invite(t, again))
	}
	wantSame(t, "the guest", record, p.record(t, id))
	for user, want := range map[string]string{id: "[team_member]", p.Bob: "[]", p.Carol: "[account_reader]", p.Admin: "[account_admin]"} {
		if roles := fmt.Sprint(rolesOf(t, p.Scene, user)); roles != want {
			t.Errorf("%s has the roles %s", user, roles)
		}
	}
	if got := fmt.Sprint(p.Must(t, 200, "GET", "/users", "").Body["total"]); got != "5" {
		t.Errorf("%s members", got)
	}
	p.Drained(t)
	if mails := mailsTo(t, p.Gateway, email) + mailsTo(t, p.Gateway, p.Carol+"@team.example"); mails != 1 {
		t.Errorf("%d mails", mails)
	}
}

// TestInvitationOfAnothersMemberLeavesNoTrace: 409, and no role, no member, no mail.
func TestInvitationOfAnothersMemberLeavesNoTrace(t *testing.T) {
	t.Parallel()
	p, other := newPeople(t), newPeople(t)
	guest := "guest@" + other.Account + ".example"
	harness.WantMessage(t, "user.invite", other.Invite(t, guest))
	setStatus(t, other.Scene, other.Carol, "SUSPENDED")
	for name, email := range map[string]string{"an active member": other.Bob + "@team.example", "a suspended one": other.Carol + "@team.example", "an invited one": strings.ToUpper(guest)} {
		wantUserRefusal(t, name, p.Invite(t, email), 409, "USER_002")
	}
	r := p.Must(t, 200, "GET", "/users", "")
	if fmt.Sprint(r.Body["total"]) != "4" {
		t.Errorf("%s", r.Raw)
	}
	if roles := rolesOf(t, p.Scene, other.Bob); roles != nil {
		t.Errorf("roles %v", roles)
	}
	if p.record(t, other.Bob)["account_id"] != other.Account {
		t.Error("the member was taken over")
	}
	p.Drained(t)
	if mails := mailsTo(t, p.Gateway, guest) + mailsTo(t, p.Gateway, other.Bob+"@team.example"); mails != 1 {
		t.Errorf("%d mails, want the one of their own account", mails)
	}
}

// TestInvitationTakesOneAddress: ASCII and bare; nobody is invited by anything else.
func TestInvitationTakesOneAddress(t *testing.T) {
	t.Parallel()
	p := newPeople(t)
	for _, body := range []string{
		``, `{}`, `[]`, `null`, `{"email":null}`, `{"email":""}`, `{"email":5}`, `{"email":["a@b.example"]}`, `{"email":{"$ne":""}}`,
		`{"email":"a"}`, `{"email":"a@b"}`, `{"email":" a@b.example"}`, `{"email":"a@b.example,c@d.example"}`, `{"email":"A <a@b.example>"}`, `{"email":"a(x)@b.example"}`, `{"email":"\"a b\"@c.example"}`,
		`{"email":"a@b.example\r\nBcc: c@d.example"}`, `{"email":"a@b.example\u0000"}`, `{"email":"ä@b.example"}`, `{"email":"a@bücher.example"}`, `{"email":"\u212aim@b.example"}`,
		fmt.Sprintf(`{"email":"%s@b.example"}`, strings.Repeat("a", 65)), `{"email":"a@b.example","role":"account_admin"}`, `{"email":"a@b.example","email":"c@d.example"}`, `{"email":"a@b.example"} {}`,
	} {
		wantUserRefusal(t, body, p.on(t, "POST", "/users/invite", p.AdminToken, body), 400, "REQ_001")
	}
	if got := fmt.Sprint(p.Must(t, 200, "GET", "/users", "").Body["total"]); got != "4" {
		t.Errorf("%s members", got)
	}
}

// TestMembersAreListedByHundreds guarantees the order of their joining, and 100 by default. A page's token is good for
// its own list alone.
func TestMembersAreListedByHundreds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var members []resources.User
	for n := range 120 {
		u := harness.MemberRecord("acct-"+harness.TeamName(1)+"-v1", fmt.Sprintf("user-z%03d-v1", 999-n))
		u.MemberSince, u.CreatedAt = resources.Time(1_700_000_000_000+n), resources.Time(1_800_000_000_000-n)
		members = append(members, u)
	}
	harness.SeedUsers(t, dir, members...)
	g := harness.StartIn(t, dir)
	p := &people{Team: harness.TeamIn(t, g, 1)}
	p.base = p.URL
	page := func(query string) ([]string, string) {
		r := p.Must(t, 200, "GET", "/users"+query, "")
		if fmt.Sprint(r.Body["total"]) != "121" {
			t.Errorf("%s: total %v", query, r.Body["total"])
		}
		next, _ := r.Body["next_page_token"].(string)
		return harness.Texts(r.Body["users"], "id"), next
	}
	first, next := page("")
	second, end := page("?page_token=" + next)
	all := slices.Concat(first, second)
	if len(first) != 100 || len(second) != 21 || end != "" {
		t.Errorf("pages of %d and %d, and then %q", len(first), len(second), end)
	}
	for i, u := range members {
		if all[i] != u.ExternalID {
			t.Fatalf("at %d: %s, want %s", i, all[i], u.ExternalID)
		}
	}
	if one, _ := page("?page_size=1"); !slices.Equal(one, all[:1]) {
		t.Errorf("%v", one)
	}
	other := harness.NewScene(t, g)
	changed := "A" + next[1:]
	if changed == next {
		changed = "B" + next[1:]
	}
	for name, query := range map[string]string{
		"0": "?page_size=0", "101": "?page_size=101", "-1": "?page_size=-1", "a word": "?page_size=x", "a fraction": "?page_size=1.5", "twice": "?page_size=1&page_size=2", "empty": "?page_size=",
		"another list's": "?pageSize=1", "an operator": "?page_size[$ne]=1", "cut off": "?page_token=" + next[:len(next)-2], "changed": "?page_token=" + changed, "not there": "?page_token=x",
	} {
		wantUserRefusal(t, name, p.Do(t, "GET", "/users"+query, ""), 400, "REQ_001")
	}
	wantUserRefusal(t, "another account's token", other.Do(t, "GET", "/users?page_token="+next, ""), 400, "REQ_001")
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
		wantUserRefusal(t, when+": the key", p.on(t, "GET", profile, key, ""), 401, "AUTH_002")
		if n := fmt.Sprint(p.Must(t, 200, "GET", "/groups/"+group+"/members", "").Body["total_count"]); n != "0" {
			t.Errorf("%s: the group has %s members", when, n)
		}
	}
	gone("after")
	for name, r := range map[string]harness.Reply{"user_profile.get": p.on(t, "GET", profile, token, ""), "user.list": p.on(t, "GET", "/users", token, ""), "api_key.list": p.on(t, "GET", "/users/"+p.Bob+"/keys", token, ""), "user.remove": p.on(t, "DELETE", "/users/"+p.Bob, token, "")} {
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
	if r := p.on(t, "GET", "/users/"+p.Bob+"/keys", token, ""); string(r.Raw) != `{"success":true,"data":{"keys":[]}}` {
		t.Errorf("back with keys: %s", r.Raw)
	}
}

// TestWhoMayRemoveWhom: themselves all but an account admin, others with
// account:user:delete only, and nobody the last admin.
func TestWhoMayRemoveWhom(t *testing.T) {
	t.Parallel()
	p := newPeople(t)
	holds(t, p.Scene, p.Carol, `"account:user:delete"`)
	bob, carol, dan := p.UserToken(t, p.Bob), p.UserToken(t, p.Carol), p.UserToken(t, p.Dan)
	remove := func(token, user string) harness.Reply { return p.on(t, "DELETE", "/users/"+user, token, "") }
	wantUserRefusal(t, "the last admin, by a holder of the action", remove(carol, p.Admin), 403, "AUTH_003")
	p.Grant(t, "account_admin", p.Bob, "")
	wantUserRefusal(t, "an admin themselves, with another one there", remove(bob, p.Bob), 403, "AUTH_003")
	wantUserRefusal(t, "another one, without the action", remove(dan, p.Bob), 403, "AUTH_003")
	key, _ := newKey(t, p.Scene, p.Dan, readOnly)
	wantUserRefusal(t, "oneself with a key that only reads", remove(key, p.Dan), 403, "AUTH_003")
	wantUserRefusal(t, "by the service that syncs users", remove(p.sync, p.Dan), 403, "AUTH_003")
	if got := fmt.Sprint(p.Must(t, 200, "GET", "/users", "").Body["total"]); got != "4" {
		t.Fatalf("%s members after what was refused", got)
	}
	harness.WantMessage(t, "an admin, with another one there", remove(carol, p.Admin))
	harness.WantMessage(t, "oneself", remove(dan, p.Dan))
	wantUserRefusal(t, "oneself again", remove(dan, p.Dan), 403, "AUTH_003")
	wantUserRefusal(t, "the last admin now", remove(carol, p.Bob), 403, "AUTH_003")
}
