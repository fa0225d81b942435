package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// people is a team whose endpoints of users and keys are asked on one listener.
type people struct {
	*team
	base string
	sync string // token of a service with users:sync
	// invited is a member whose invitation is an hour old.
	invited string
	// email is of a user that user.create makes.
	email string
}

func invitedOf(n int) string { return teamMember(n, "erin") }

// teamWithInvited are the members of a team, and one whose invitation is an hour old.
func teamWithInvited(n int) (out []resources.User) {
	for _, name := range []string{"bob", "carol", "dan", "erin"} {
		out = append(out, memberRecord("acct-"+teamName(n)+"-v1", teamMember(n, name)))
	}
	erin := &out[len(out)-1]
	erin.Status, erin.IsVerified, erin.InvitedAt = resources.StatusInvited, false, resources.At(time.Now().Add(-time.Hour))
	return out
}

// eachListener runs the test on the edge and on the users' listener of one gateway, each
// with an account of its own.
func eachListener(t *testing.T, test func(t *testing.T, p *people)) {
	t.Helper()
	dir := t.TempDir()
	seedUsers(t, dir, append(teamWithInvited(1), teamWithInvited(2)...)...)
	g := startGatewayIn(t, dir)
	for n, base := range []string{g.URL, g.UsersURL} {
		t.Run(fmt.Sprintf("listener %d", n+1), func(t *testing.T) {
			test(t, &people{
				team: newTeamIn(t, g, n+1), base: base, sync: g.serviceToken(t, "users:sync"),
				invited: invitedOf(n + 1), email: fmt.Sprintf("new%d@people.example", n+1),
			})
		})
	}
}

// on is a request to this listener; rest is below the account.
func (p *people) on(t testing.TB, method, rest, token, body string) reply {
	t.Helper()
	return call(t, method, p.base+"/api/v1/accounts/"+p.Account+rest, token, body)
}

// TestUsersAndKeysWorkOnBothListeners: every route of users and keys, each with exactly
// the fields of its success.
func TestUsersAndKeysWorkOnBothListeners(t *testing.T) {
	t.Parallel()
	eachListener(t, func(t *testing.T, p *people) {
		id := p.recordsWork(t)
		p.profileWorks(t, id)
		p.invitationsWork(t)
		p.keysWork(t, id)
		wantMessage(t, "user.remove", p.on(t, "DELETE", "/users/"+id, p.AdminToken, ""))
		wantUserRefusal(t, "user.remove again", p.on(t, "DELETE", "/users/"+id, p.AdminToken, ""), 404, "USER_001")
	})
}

// recordsWork is user.create, user.find and user.update; it gives the external id of the user that it made.
func (p *people) recordsWork(t *testing.T) string {
	t.Helper()
	r := call(t, "POST", p.base+"/api/v1/users", p.sync, fmt.Sprintf(
		`{"email":%q,"name":"New","account_id":%q,"is_verified":true,"profile_pic_url":"https://p.example/x","metadata":{"n":1.50}}`, p.email, p.Account))
	made := at(r.Body, "user")
	id, _ := at(made, "external_id").(string)
	uuid, _ := at(made, "id").(string)
	if r.Status != 201 || !strings.HasPrefix(id, "user-") || len(uuid) != 36 || !bytes.Contains(r.Raw, []byte(`{"n":1.50}`)) {
		t.Fatalf("user.create: %d %s", r.Status, r.Raw)
	}
	wantFields(t, "user.create", r.Body, "user")
	wantFields(t, "the record", made, "id", "email", "external_id", "name", "profile_pic_url", "is_verified", "metadata",
		"status", "authentication_type", "account_id", "created_at", "updated_at")
	wantTimes(t, made, "created_at", "updated_at")
	record := bytes.TrimSuffix(bytes.TrimPrefix(r.Raw, []byte(`{"user":`)), []byte(`}`))
	for _, query := range []string{"email=" + strings.ToUpper(p.email), "external_id=" + id} {
		if r := call(t, "GET", p.base+"/api/v1/users?"+query, p.sync, ""); r.Status != 200 || string(r.Raw) != `{"users":[`+string(record)+`]}` {
			t.Errorf("user.find %s: %d %s", query, r.Status, r.Raw)
		}
	}
	if r := call(t, "GET", p.base+"/api/v1/users?external_id=absent", p.sync, ""); r.Status != 200 || string(r.Raw) != `{"users":[]}` {
		t.Errorf("user.find of nobody: %d %s", r.Status, r.Raw)
	}
	for _, name := range []string{uuid, id} { // external_id is read-only, and ignored
		wantMessage(t, "user.update", call(t, "PUT", p.base+"/api/v1/users/"+name, p.AdminToken,
			`{"name":"Changed","external_id":"x"}`, "x-account-id", p.Account))
	}
	wantMessage(t, "user.update by the service", call(t, "PUT", p.base+"/api/v1/users/"+uuid, p.sync, `{"authentication_type":"google"}`))
	r = call(t, "GET", p.base+"/api/v1/users?external_id="+id, p.sync, "")
	if u := at(r.Body, "users", 0); at(u, "name") != "Changed" || at(u, "authentication_type") != "google" || at(u, "email") != p.email {
		t.Errorf("after user.update: %s", r.Raw)
	}
	return id
}

// profileWorks is user_profile.get and user_profile.update by the user.
func (p *people) profileWorks(t *testing.T, id string) {
	t.Helper()
	token := p.userToken(t, id)
	for _, c := range []struct{ method, body, name string }{
		{"GET", "", "Changed"},
		{"PUT", `{"name":"  Own "}`, "Own"},
		{"GET", "", "Own"},
	} {
		r := p.on(t, c.method, "/users/"+id+"/profile", token, c.body)
		user := at(r.Body, "user")
		wantFields(t, "user_profile.update and user_profile.get", r.Body, "user", "account_id")
		wantFields(t, "the profile", user, "id", "email", "name", "profile_pic_url", "status", "is_verified", "created_at", "updated_at")
		if r.Status != 200 || at(user, "name") != c.name || at(user, "id") != id || r.Body["account_id"] != p.Account {
			t.Errorf("%s profile: %d %s", c.method, r.Status, r.Raw)
		}
	}
}

// invitationsWork is user.invite, user.list and user.resend_invitation.
func (p *people) invitationsWork(t *testing.T) {
	t.Helper()
	guest := "guest-" + p.email
	wantMessage(t, "user.invite", p.on(t, "POST", "/users/invite", p.AdminToken, fmt.Sprintf(`{"email":%q}`, guest)))
	soon(t, "the mail is written", func() bool { return p.mailsTo(t, guest) == 1 })
	wantMessage(t, "user.invite again", p.on(t, "POST", "/users/invite", p.AdminToken, fmt.Sprintf(`{"email":%q}`, strings.ToUpper(guest))))
	wantMessage(t, "user.resend_invitation", p.on(t, "POST", "/users/"+p.invited+"/invitation", p.AdminToken, ""))
	soon(t, "the mail is written again", func() bool { return p.mailsTo(t, p.invited+"@team.example") == 1 })
	wantUserRefusal(t, "user.resend_invitation within a minute", p.on(t, "POST", "/users/"+p.invited+"/invitation", p.AdminToken, ""), 429, "RATE_001")

	r := p.on(t, "GET", "/users", p.AdminToken, "")
	wantFields(t, "user.list", r.Body, "users", "total", "message", "next_page_token")
	if r.Status != 200 || r.Body["total"] != json.Number("7") || r.Body["next_page_token"] != "" {
		t.Errorf("user.list: %d %s", r.Status, r.Raw)
	}
	last := at(r.Body, "users", 6)
	wantFields(t, "who is listed", last, "id", "email", "name", "status", "is_verified", "created_at", "updated_at", "authentication_type")
	if at(last, "email") != guest || at(last, "status") != "INVITED" {
		t.Errorf("user.list shows %v last, want the guest", last)
	}
	first := p.on(t, "GET", "/users?page_size=4", p.AdminToken, "")
	next, _ := first.Body["next_page_token"].(string)
	second := p.on(t, "GET", "/users?page_size=4&page_token="+next, p.AdminToken, "")
	paged := append(texts(first.Body["users"], "id"), texts(second.Body["users"], "id")...)
	if strings.Join(paged, " ") != strings.Join(texts(r.Body["users"], "id"), " ") {
		t.Errorf("user.list by pages: %v", paged)
	}
}

// keysWork is api_key.create, api_key.list and api_key.revoke by the user.
func (p *people) keysWork(t *testing.T, id string) {
	t.Helper()
	token, keys := p.userToken(t, id), "/users/"+id+"/keys"
	r := p.on(t, "POST", keys, token, `{"key_name":"CI","scopes":["read"],"expires_at":"2999-01-01T00:00:00Z"}`)
	wantFields(t, "api_key.create", r.Body, "success", "data")
	wantFields(t, "the new key", r.Body["data"], "id", "key_name", "raw_key", "scopes", "created_at", "expires_at")
	key, _ := at(r.Body, "data", "id").(string)
	raw, _ := at(r.Body, "data", "raw_key").(string)
	if r.Status != 201 || r.Body["success"] != true || !strings.HasPrefix(raw, "pcl_sk_live_") || r.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("api_key.create: %d", r.Status)
	}
	for _, token := range []string{token, p.AdminToken, raw} {
		r := p.on(t, "GET", keys, token, "")
		wantFields(t, "api_key.list", r.Body, "success", "data")
		listed := at(r.Body, "data", "keys", 0)
		wantFields(t, "the listed key", listed, "id", "key_name", "masked_key", "scopes", "is_active", "created_at", "expires_at")
		if r.Status != 200 || at(listed, "masked_key") != "pcl_sk_…"+raw[len(raw)-4:] || at(listed, "is_active") != true || at(listed, "id") != key {
			t.Errorf("api_key.list: %d %s", r.Status, r.Raw)
		}
	}
	for range 2 {
		r := p.on(t, "DELETE", keys+"/"+key, token, "")
		wantFields(t, "api_key.revoke", r.Body, "success", "data")
		wantFields(t, "api_key.revoke's data", r.Body["data"], "message")
		if r.Status != 200 || r.Body["success"] != true {
			t.Errorf("api_key.revoke: %d %s", r.Status, r.Raw)
		}
	}
	if r := p.on(t, "GET", keys, token, ""); at(r.Body, "data", "keys", 0, "is_active") != false {
		t.Errorf("api_key.list after api_key.revoke: %s", r.Raw)
	}
}
