package api_test

import (
	"fmt"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestScopesBoundAnAdminsKey: a read key reads, a write key writes, on handled calls, on
// what is one's own, and in authorization.check about the owner.
func TestScopesBoundAnAdminsKey(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	for scopes, allowed := range map[string]map[string]bool{
		readOnly: {"read": true}, writeOnly: {"write": true}, readWrite: {"read": true, "write": true},
	} {
		key, _ := newKey(t, s.Scene, s.Admin, scopes)
		_, spare := newKey(t, s.Scene, s.Admin, readOnly)
		admin := "/users/" + s.Admin
		for name, c := range map[string]struct {
			scope, method, rest, body string
		}{
			"role.list":           {"read", "GET", "/roles", ""},
			"user.list":           {"read", "GET", "/users", ""},
			"user_profile.get":    {"read", "GET", admin + "/profile", ""},
			"api_key.list":        {"read", "GET", admin + "/keys", ""},
			"user_profile.update": {"write", "PUT", admin + "/profile", `{"name":"N"}`},
			"api_key.revoke":      {"write", "DELETE", admin + "/keys/" + spare, ""},
			"user.invite":         {"write", "POST", "/users/invite", fmt.Sprintf(`{"email":"%s@scopes.example"}`, s.Account)},
		} {
			r := harness.Call(t, c.method, s.Path(c.rest), "", c.body, "X-API-Key", key)
			if want := map[bool]int{true: 200, false: 403}[allowed[c.scope]]; r.Status != want {
				t.Errorf("%s with a key of %s: %d %s, want %d", name, scopes, r.Status, r.Raw, want)
			}
		}
		for action, scope := range map[string]string{
			"project:instance:read": "read", "project:instance:list": "read", "project:instance:create": "write", "project:instance:reads": "write",
		} {
			if got := askWith(t, s.Scene, key, s.Admin, action); got != allowed[scope] {
				t.Errorf("authorization.check of %s with a key of %s: %v", action, scopes, got)
			}
		}
	}
}

// TestKeyMakesNoKey: api_key.create takes a token only, or a stolen key would outlive its revocation.
func TestKeyMakesNoKey(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	key, _ := newKey(t, s.Scene, s.Bob, readWrite)
	keys, body := s.Path("/users/"+s.Bob+"/keys"), `{"key_name":"k","scopes":["read"]}`
	wantUserRefusal(t, "Bearer", harness.Call(t, "POST", keys, key, body), 403, "AUTH_003")
	wantUserRefusal(t, "X-API-Key", harness.Call(t, "POST", keys, "", body, "X-API-Key", key), 403, "AUTH_003")
	wantUserRefusal(t, "beside a token", harness.Call(t, "POST", keys, s.UserToken(t, s.Bob), body, "X-API-Key", key), 403, "AUTH_003")
	r := harness.Call(t, "GET", keys, key, "")
	if listed, _ := harness.At(r.Body, "data", "keys").([]any); len(listed) != 1 {
		t.Errorf("%s", r.Raw)
	}
}

// TestKeyGrantsNoMoreThanItsScopes: an admin's write key can't give away what it may not
// do itself.
func TestKeyGrantsNoMoreThanItsScopes(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	key, _ := newKey(t, s.Scene, s.Admin, writeOnly)
	r := harness.Call(t, "PUT", s.Path(harness.AssignmentPath("project_reader", s.Bob, s.Project)), key, `{}`)
	harness.WantRefusal(t, r, 403, "FORBIDDEN")
}
