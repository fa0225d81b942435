package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/harness"
)

// people is a team whose endpoints of users and keys are asked on one listener.
type people struct {
	*harness.Team
	base string
	sync string // token of a service with users:sync
	// invited is a member whose invitation is an hour old.
	invited string
	// email is of a user that user.create makes.
	email string
}

func invitedOf(n int) string { return harness.TeamMember(n, "erin") }

// teamWithInvited are the members of a team, and one whose invitation is an hour old.
func teamWithInvited(n int) (out []resources.User) {
	for _, name := range []string{"bob", "carol", "dan", "erin"} {
		out = append(out, harness.MemberRecord("acct-"+harness.TeamName(n)+"-v1", harness.TeamMember(n, name)))
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
	harness.SeedUsers(t, dir, append(teamWithInvited(1), teamWithInvited(2)...)...)
	g := harness.StartIn(t, dir)
	for n, base := range []string{g.URL, g.UsersURL} {
		t.Run(fmt.Sprintf("listener %d", n+1), func(t *testing.T) {
			test(t, &people{
				Team: harness.TeamIn(t, g, n+1), base: base, sync: g.ServiceToken(t, "users:sync"),
				invited: invitedOf(n + 1), email: fmt.Sprintf("new%d@people.example", n+1),
			})
		})
	}
}

// call sends a request to this listener; rest is the path below the account.
func (p *people) call(t testing.TB, method, rest, token, body string) harness.Reply {
	t.Helper()
	return harness.Call(t, method, p.base+"/api/v1/accounts/"+p.Account+rest, token, body)
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
		harness.WantMessage(t, "user.remove", p.call(t, "DELETE", "/users/"+id, p.AdminToken, ""))
		wantUserRefusal(t, "user.remove again", p.call(t, "DELETE", "/users/"+id, p.AdminToken, ""), 404, "USER_001")
	})
}

// recordsWork is user.create, user.find and user.update; it gives the external id of the user that it made.
func (p *people) recordsWork(t *testing.T) string {
	t.Helper()
	r := harness.Call(t, "POST", p.base+"/api/v1/users", p.sync, fmt.Sprintf(
		`{"email":%q,"name":"New","account_id":%q,"is_verified":true,"profile_pic_url":"https://p.example/x","metadata":{"n":1.50}}`, p.email, p.Account))
	made := harness.At(r.Body, "user")
	id, _ := harness.At(made, "external_id").(string)
	uuid, _ := harness.At(made, "id").(string)
	if r.Status != 201 || !strings.HasPrefix(id, "user-") || len(uuid) != 36 || !bytes.Contains(r.Raw, []byte(`{"n":1.50}`)) {
		t.Fatalf("user.create: %d %s", r.Status, r.Raw)
	}
	harness.WantFields(t, "user.create", r.Body, "user")
	harness.WantFields(t, "the record", made, "id", "email", "external_id", "name", "profile_pic_url", "is_verified", "metadata",
		"status", "authentication_type", "account_id", "created_at", "updated_at")
	harness.WantTimes(t, made, "created_at", "updated_at")
	record := bytes.TrimSuffix(bytes.TrimPrefix(r.Raw, []byte(`{"user":`)), []byte(`}`))
	for _, query := range []string{"email=" + strings.ToUpper(p.email), "external_id=" + id} {
		if r := harness.Call(t, "GET", p.base+"/api/v1/users?"+query, p.sync, ""); r.Status != 200 || string(r.Raw) != `{"users":[`+string(record)+`]}` {
			t.Errorf("user.find %s: %d %s", query, r.Status, r.Raw)
		}
	}
	if r := harness.Call(t, "GET", p.base+"/api/v1/users?external_id=absent", p.sync, ""); r.Status != 200 || string(r.Raw) != `{"users":[]}` {
		t.Errorf("user.find of nobody: %d %s", r.Status, r.Raw)
	}
	for _, name := range []string{uuid, id} { // external_id is read-only, and ignored
		harness.WantMessage(t, "user.update", harness.Call(t, "PUT", p.base+"/api/v1/users/"+name, p.AdminToken,
			`{"name":"Changed","external_id":"x"}`, "x-account-id", p.Account))
	}
	harness.WantMessage(t, "user.update by the service", harness.Call(t, "PUT", p.base+"/api/v1/users/"+uuid, p.sync, `{"authentication_type":"google"}`))
	r = harness.Call(t, "GET", p.base+"/api/v1/users?external_id="+id, p.sync, "")
	if u := harness.At(r.Body, "users", 0); harness.At(u, "name") != "Changed" || harness.At(u, "authentication_type") != "google" || harness.At(u, "email") != p.email {
		t.Errorf("after user.update: %s", r.Raw)
	}
	return id
}

// profileWorks is user_profile.get and user_profile.update by the user.
func (p *people) profileWorks(t *testing.T, id string) {
	t.Helper()
	token := p.UserToken(t, id)
	for _, c := range []struct{ method, body, name string }{
		{"GET", "", "Changed"},
		{"PUT", `{"name":"  Own "}`, "Own"},
		{"GET", "", "Own"},
	} {
		r := p.call(t, c.method, "/users/"+id+"/profile", token, c.body)
		user := harness.At(r.Body, "user")
		harness.WantFields(t, "user_profile.update and user_profile.get", r.Body, "user", "account_id")
		harness.WantFields(t, "the profile", user, "id", "email", "name", "profile_pic_url", "status", "is_verified", "created_at", "updated_at")
		if r.Status != 200 || harness.At(user, "name") != c.name || harness.At(user, "id") != id || r.Body["account_id"] != p.Account {
			t.Errorf("%s profile: %d %s", c.method, r.Status, r.Raw)
		}
	}
}

// invitationsWork is user.invite, user.list and user.resend_invitation.
func (p *people) invitationsWork(t *testing.T) {
	t.Helper()
	guest := "guest-" + p.email
	harness.WantMessage(t, "user.invite", p.call(t, "POST", "/users/invite", p.AdminToken, fmt.Sprintf(`{"email":%q}`, guest)))
	harness.Soon(t, "the mail is written", func() bool { return mailsTo(t, p.Gateway, guest) == 1 })
	harness.WantMessage(t, "user.invite again", p.call(t, "POST", "/users/invite", p.AdminToken, fmt.Sprintf(`{"email":%q}`, strings.ToUpper(guest))))
	harness.WantMessage(t, "user.resend_invitation", p.call(t, "POST", "/users/"+p.invited+"/invitation", p.AdminToken, ""))
	harness.Soon(t, "the mail is written again", func() bool { return mailsTo(t, p.Gateway, p.invited+"@team.example") == 1 })
	wantUserRefusal(t, "user.resend_invitation within a minute", p.call(t, "POST", "/users/"+p.invited+"/invitation", p.AdminToken, ""), 429, "RATE_001")

	r := p.call(t, "GET", "/users", p.AdminToken, "")
	harness.WantFields(t, "user.list", r.Body, "users", "total", "message", "next_page_token")
	if r.Status != 200 || r.Body["total"] != json.Number("7") || r.Body["next_page_token"] != "" {
		t.Errorf("user.list: %d %s", r.Status, r.Raw)
	}
	last := harness.At(r.Body, "users", 6)
	harness.WantFields(t, "who is listed", last, "id", "email", "name", "status", "is_verified", "created_at", "updated_at", "authentication_type")
	if harness.At(last, "email") != guest || harness.At(last, "status") != "INVITED" {
		t.Errorf("user.list shows %v last, want the guest", last)
	}
	first := p.call(t, "GET", "/users?page_size=4", p.AdminToken, "")
	next, _ := first.Body["next_page_token"].(string)
	second := p.call(t, "GET", "/users?page_size=4&page_token="+next, p.AdminToken, "")
	paged := append(harness.Texts(first.Body["users"], "id"), harness.Texts(second.Body["users"], "id")...)
	if strings.Join(paged, " ") != strings.Join(harness.Texts(r.Body["users"], "id"), " ") {
		t.Errorf("user.list by pages: %v", paged)
	}
}

// keysWork is api_key.create, api_key.list and api_key.revoke by the user.
func (p *people) keysWork(t *testing.T, id string) {
	t.Helper()
	token, keys := p.UserToken(t, id), "/users/"+id+"/keys"
	r := p.call(t, "POST", keys, token, `{"key_name":"CI","scopes":["read"],"expires_at":"2999-01-01T00:00:00Z"}`)
	harness.WantFields(t, "api_key.create", r.Body, "success", "data")
	harness.WantFields(t, "the new key", r.Body["data"], "id", "key_name", "raw_key", "scopes", "created_at", "expires_at")
	key, _ := harness.At(r.Body, "data", "id").(string)
	raw, _ := harness.At(r.Body, "data", "raw_key").(string)
	if r.Status != 201 || r.Body["success"] != true || !strings.HasPrefix(raw, "pcl_sk_live_") || r.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("api_key.create: %d", r.Status)
	}
	for _, token := range []string{token, p.AdminToken, raw} {
		r := p.call(t, "GET", keys, token, "")
		harness.WantFields(t, "api_key.list", r.Body, "success", "data")
		listed := harness.At(r.Body, "data", "keys", 0)
		harness.WantFields(t, "the listed key", listed, "id", "key_name", "masked_key", "scopes", "is_active", "created_at", "expires_at")
		if r.Status != 200 || harness.At(listed, "masked_key") != "pcl_sk_…"+raw[len(raw)-4:] || harness.At(listed, "is_active") != true || harness.At(listed, "id") != key {
			t.Errorf("api_key.list: %d %s", r.Status, r.Raw)
		}
	}
	for range 2 {
		r := p.call(t, "DELETE", keys+"/"+key, token, "")
		harness.WantFields(t, "api_key.revoke", r.Body, "success", "data")
		harness.WantFields(t, "api_key.revoke's data", r.Body["data"], "message")
		if r.Status != 200 || r.Body["success"] != true {
			t.Errorf("api_key.revoke: %d %s", r.Status, r.Raw)
		}
	}
	if r := p.call(t, "GET", keys, token, ""); harness.At(r.Body, "data", "keys", 0, "is_active") != false {
		t.Errorf("api_key.list after api_key.revoke: %s", r.Raw)
	}
}
