package api_test

import (
	"fmt"
	"testing"
)

// TestScopesBoundAnAdminsKey: a read key reads, a write key writes, on handled calls, on
// what is one's own, and in authorization.check about the owner.
func TestScopesBoundAnAdminsKey(t *testing.T) {
	t.Parallel()
	s := newTeam(t)
	for scopes, allowed := range map[string]map[string]bool{
		readOnly: {"read": true}, writeOnly: {"write": true}, readWrite: {"read": true, "write": true},
	} {
		key, _ := s.newKey(t, s.Admin, scopes)
		_, spare := s.newKey(t, s.Admin, readOnly)
		own := "/users/" + s.Admin
		for name, c := range map[string]struct {
			scope, method, rest, body string
		}{
			"role.list":           {"read", "GET", "/roles", ""},
			"user.list":           {"read", "GET", "/users", ""},
			"user_profile.get":    {"read", "GET", own + "/profile", ""},
			"api_key.list":        {"read", "GET", own + "/keys", ""},
			"user_profile.update": {"write", "PUT", own + "/profile", `{"name":"N"}`},
			"api_key.revoke":      {"write", "DELETE", own + "/keys/" + spare, ""},
			"user.invite":         {"write", "POST", "/users/invite", fmt.Sprintf(`{"email":"%s@scopes.example"}`, s.Account)},
		} {
			r := call(t, c.method, s.path(c.rest), "", c.body, "X-API-Key", key)
			if want := map[bool]int{true: 200, false: 403}[allowed[c.scope]]; r.Status != want {
				t.Errorf("%s with a key of %s: %d %s, want %d", name, scopes, r.Status, r.Raw, want)
			}
		}
		for action, scope := range map[string]string{
			"project:instance:read": "read", "project:instance:list": "read", "project:instance:create": "write", "project:instance:reads": "write",
		} {
			if got := s.askWith(t, key, s.Admin, action); got != allowed[scope] {
				t.Errorf("authorization.check of %s with a key of %s: %v", action, scopes, got)
			}
		}
	}
}

// TestKeyMakesNoKey: api_key.create takes a token only, or a stolen key would outlive its revocation.
func TestKeyMakesNoKey(t *testing.T) {
	t.Parallel()
	s := newTeam(t)
	key, _ := s.newKey(t, s.Bob, readWrite)
	keys, body := s.path("/users/"+s.Bob+"/keys"), `{"key_name":"k","scopes":["read"]}`
	wantUserRefusal(t, "Bearer", call(t, "POST", keys, key, body), 403, "AUTH_003")
	wantUserRefusal(t, "X-API-Key", call(t, "POST", keys, "", body, "X-API-Key", key), 403, "AUTH_003")
	wantUserRefusal(t, "beside a token", call(t, "POST", keys, s.userToken(t, s.Bob), body, "X-API-Key", key), 403, "AUTH_003")
	r := call(t, "GET", keys, key, "")
	if listed, _ := at(r.Body, "data", "keys").([]any); len(listed) != 1 {
		t.Errorf("%s", r.Raw)
	}
}

// TestKeyGrantsNoMoreThanItsScopes: an admin's write key can't give away what it may not
// do itself.
func TestKeyGrantsNoMoreThanItsScopes(t *testing.T) {
	t.Parallel()
	s := newTeam(t)
	key, _ := s.newKey(t, s.Admin, writeOnly)
	r := call(t, "PUT", s.path(assignmentPath("project_reader", s.Bob, s.Project)), key, `{}`)
	wantRefusal(t, r, 403, "FORBIDDEN")
}
