package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// peopleCall is one of the endpoints of users and keys, as the admin could ask it of a
// member.
type peopleCall struct{ method, path, body string }

// calls are every endpoint of users and keys; the subject is the member they are about.
func (p *people) calls(subject string) map[string]peopleCall {
	below := "/api/v1/accounts/" + p.Account
	user := below + "/users/" + subject
	return map[string]peopleCall{
		"user.update":            {"PUT", "/api/v1/users/" + subject, `{"name":"N"}`},
		"user_profile.update":    {"PUT", user + "/profile", `{"name":"N"}`},
		"user_profile.get":       {"GET", user + "/profile", ""},
		"user.invite":            {"POST", below + "/users/invite", `{"email":"x@refused.example"}`},
		"user.list":              {"GET", below + "/users", ""},
		"api_key.create":         {"POST", user + "/keys", `{"key_name":"k","scopes":["read"]}`},
		"api_key.list":           {"GET", user + "/keys", ""},
		"api_key.revoke":         {"DELETE", user + "/keys/absent", ""},
		"user.create":            {"POST", "/api/v1/users", `{"email":"y@refused.example"}`},
		"user.find":              {"GET", "/api/v1/users?email=x@refused.example", ""},
		"user.remove":            {"DELETE", user, ""},
		"user.resend_invitation": {"POST", user + "/invitation", ""},
	}
}

func (p *people) make(t testing.TB, c peopleCall, token string) harness.Reply {
	t.Helper()
	return harness.Call(t, c.method, p.base+c.path, token, c.body, "x-account-id", p.Account)
}

// TestUsersAndKeysRefuseTheCaller: without a credential, with a bad one, and who may not
// do it, on every endpoint and both listeners; nothing is changed by it.
func TestUsersAndKeysRefuseTheCaller(t *testing.T) {
	t.Parallel()
	eachListener(t, func(t *testing.T, p *people) {
		bob := p.UserToken(t, p.Bob)
		for name, c := range p.calls(p.Carol) {
			r := p.make(t, c, "")
			wantUserRefusal(t, name+" without a credential", r, 401, "AUTH_001")
			if want := `{"success":false,"error":{"code":"AUTH_001","type":"unauthorized","message":"authentication is required","details":""}}`; string(r.Raw) != want {
				t.Errorf("%s: %s", name, r.Raw)
			}
			r = p.make(t, c, bob[:len(bob)-4])
			wantUserRefusal(t, name+" with a bad credential", r, 401, "AUTH_002")
			if want := `{"success":false,"error":{"code":"AUTH_002","type":"unauthorized","message":"invalid or expired authentication token","details":""}}`; string(r.Raw) != want {
				t.Errorf("%s: %s", name, r.Raw)
			}
			wantUserRefusal(t, name+" by another member", p.make(t, c, bob), 403, "AUTH_003")
			wantUserRefusal(t, name+" by a service without the scope", p.make(t, c, p.Checker), 403, "AUTH_003")
		}
		for name, c := range p.calls("user-absent-v1") { // the answer hides whether the user exists
			existing := p.make(t, p.calls(p.Carol)[name], bob)
			if r := p.make(t, c, bob); r.Status != existing.Status || string(r.Raw) != string(existing.Raw) {
				t.Errorf("%s of an absent user: %d %s; of another one: %s", name, r.Status, r.Raw, existing.Raw)
			}
		}
		p.unchanged(t)
	})
}

// unchanged holds the account to what it was before anything was refused.
func (p *people) unchanged(t testing.TB) {
	t.Helper()
	r := p.call(t, "GET", "/users", p.AdminToken, "")
	if fmt.Sprint(r.Body["total"]) != "5" || strings.Contains(string(r.Raw), `"name":"N"`) || strings.Contains(string(r.Raw), "refused.example") {
		t.Errorf("changed by refused requests: %s", r.Raw)
	}
	if r := p.call(t, "GET", "/users/"+p.Carol+"/keys", p.AdminToken, ""); string(r.Raw) != `{"success":true,"data":{"keys":[]}}` {
		t.Errorf("keys made by refused requests: %s", r.Raw)
	}
}

// TestUsersAndKeysRefuseTheRequest: what is wrong, absent or taken, on both listeners.
func TestUsersAndKeysRefuseTheRequest(t *testing.T) {
	t.Parallel()
	eachListener(t, func(t *testing.T, p *people) {
		taken, below := p.Dan+"@team.example", "/api/v1/accounts/"+p.Account
		elsewhere := "other-" + p.email // a member of another account
		r := harness.Call(t, "POST", p.URL+"/api/v1/accounts", p.Platform, fmt.Sprintf(`{"name":"Other","admin":{"email":%q}}`, elsewhere))
		if r.Status != 201 {
			t.Fatalf("account.create: %d %s", r.Status, r.Raw)
		}
		admin, path := p.AdminToken, below+"/users/"+p.Admin
		for name, c := range map[string]struct {
			peopleCall
			token  string
			status int
			code   string
		}{
			"user.update unknown field":            {peopleCall{"PUT", "/api/v1/users/" + p.Bob, `{"nam":"N"}`}, admin, 400, "REQ_001"},
			"user.update e-mail by admin":          {peopleCall{"PUT", "/api/v1/users/" + p.Bob, `{"email":"z@refused.example"}`}, admin, 403, "AUTH_003"},
			"user.update absent":                   {peopleCall{"PUT", "/api/v1/users/user-absent-v1", `{"name":"N"}`}, admin, 404, "USER_001"},
			"user.update e-mail taken":             {peopleCall{"PUT", "/api/v1/users/" + p.Bob, fmt.Sprintf(`{"email":%q}`, strings.ToUpper(taken))}, p.sync, 409, "USER_002"},
			"user.update last admin":               {peopleCall{"PUT", "/api/v1/users/" + p.Admin, `{"status":"SUSPENDED"}`}, admin, 403, "AUTH_003"},
			"user_profile.update blank":            {peopleCall{"PUT", path + "/profile", `{"name":"  "}`}, admin, 400, "REQ_001"},
			"user_profile.get query":               {peopleCall{"GET", path + "/profile?x=1", ""}, admin, 400, "REQ_001"},
			"user.invite no address":               {peopleCall{"POST", below + "/users/invite", `{"email":"a b@refused.example"}`}, admin, 400, "REQ_001"},
			"user.invite of another":               {peopleCall{"POST", below + "/users/invite", fmt.Sprintf(`{"email":%q}`, elsewhere)}, admin, 409, "USER_002"},
			"user.list page size":                  {peopleCall{"GET", below + "/users?page_size=101", ""}, admin, 400, "REQ_001"},
			"api_key.create no name":               {peopleCall{"POST", path + "/keys", `{"scopes":["read"]}`}, admin, 400, "REQ_001"},
			"api_key.list query":                   {peopleCall{"GET", path + "/keys?x=1", ""}, admin, 400, "REQ_001"},
			"api_key.list absent user":             {peopleCall{"GET", below + "/users/user-absent-v1/keys", ""}, admin, 404, "USER_001"},
			"api_key.revoke absent key":            {peopleCall{"DELETE", path + "/keys/apikey-absent-v1", ""}, admin, 404, "KEY_001"},
			"user.create no e-mail":                {peopleCall{"POST", "/api/v1/users", `{"name":"N"}`}, p.sync, 400, "REQ_001"},
			"user.create e-mail taken":             {peopleCall{"POST", "/api/v1/users", fmt.Sprintf(`{"email":%q}`, taken)}, p.sync, 409, "USER_002"},
			"user.find nothing asked":              {peopleCall{"GET", "/api/v1/users", ""}, p.sync, 400, "REQ_001"},
			"user.remove by the service":           {peopleCall{"DELETE", below + "/users/" + p.Bob, ""}, p.sync, 403, "AUTH_003"},
			"user.remove last admin":               {peopleCall{"DELETE", path, ""}, admin, 403, "AUTH_003"},
			"user.remove query":                    {peopleCall{"DELETE", below + "/users/" + p.Bob + "?x=1", ""}, admin, 400, "REQ_001"},
			"user.remove absent":                   {peopleCall{"DELETE", below + "/users/user-absent-v1", ""}, admin, 404, "USER_001"},
			"user.resend_invitation absent":        {peopleCall{"POST", below + "/users/user-absent-v1/invitation", ""}, admin, 404, "USER_001"},
			"user.resend_invitation with a body":   {peopleCall{"POST", below + "/users/" + p.invited + "/invitation", `{"email":"x@refused.example"}`}, admin, 400, "REQ_001"},
			"user.resend_invitation active member": {peopleCall{"POST", below + "/users/" + p.Bob + "/invitation", ""}, admin, 409, "USER_002"},
			"an unknown way":                       {peopleCall{"PATCH", path + "/profile", `{}`}, admin, 405, "METHOD_NOT_ALLOWED"},
		} {
			r := p.make(t, c.peopleCall, c.token)
			if c.status == 405 {
				harness.WantRefusal(t, r, c.status, c.code)
				continue
			}
			wantUserRefusal(t, name, r, c.status, c.code)
		}
		p.unchanged(t)
	})
}
