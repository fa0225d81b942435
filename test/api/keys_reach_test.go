package api_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestWhoReachesTheKeysOfOthers guarantees that account:api_key:read lists them and
// account:api_key:delete revokes them, and neither does the other.
func TestWhoReachesTheKeysOfOthers(t *testing.T) {
	t.Parallel()
	p := newPeople(t)
	holds(t, p.Scene, p.Carol, `"account:api_key:read"`)
	holds(t, p.Scene, p.Dan, `"account:api_key:delete"`)
	raw, id := newKey(t, p.Scene, p.Bob, readOnly)
	reader, deleter := p.UserToken(t, p.Carol), p.UserToken(t, p.Dan)
	keys := "/users/" + p.Bob + "/keys"
	list := func(token string) harness.Reply { return p.on(t, "GET", keys, token, "") }
	revoke := func(token string) harness.Reply { return p.on(t, "DELETE", keys+"/"+id, token, "") }
	if r := list(reader); r.Status != 200 || harness.At(r.Body, "data", "keys", 0, "id") != id {
		t.Errorf("api_key.list by a reader: %d %s", r.Status, r.Raw)
	}
	wantUserRefusal(t, "api_key.revoke by a reader", revoke(reader), 403, "AUTH_003")
	wantUserRefusal(t, "api_key.list by one who deletes", list(deleter), 403, "AUTH_003")
	for name, token := range map[string]string{"that syncs users": p.sync, "of the platform": p.Platform} {
		wantUserRefusal(t, "api_key.list by the service "+name, list(token), 403, "AUTH_003")
		wantUserRefusal(t, "api_key.revoke by the service "+name, revoke(token), 403, "AUTH_003")
	}
	if r := p.on(t, "GET", "/users/"+p.Bob+"/profile", raw, ""); r.Status != 200 {
		t.Fatalf("after what was refused: %d %s", r.Status, r.Raw)
	}
	if r := revoke(deleter); r.Status != 200 {
		t.Errorf("api_key.revoke by one who deletes: %d %s", r.Status, r.Raw)
	}
	wantUserRefusal(t, "the revoked key", p.on(t, "GET", "/users/"+p.Bob+"/profile", raw, ""), 401, "AUTH_002")
}

// TestKeyOfAnotherIsNotThere covers keys of another user, of another account, and under an unknown
// or foreign user. Each is answered like an unknown key and goes on working.
func TestKeyOfAnotherIsNotThere(t *testing.T) {
	t.Parallel()
	p, other := newPeople(t), newPeople(t)
	raw, carols := newKey(t, p.Scene, p.Carol, readOnly)
	foreign, theirs := newKey(t, other.Scene, other.Bob, readOnly)
	revoke := func(user, id, token string) harness.Reply {
		return p.on(t, "DELETE", "/users/"+user+"/keys/"+id, token, "")
	}
	for who, token := range map[string]string{"oneself": p.UserToken(t, p.Bob), "the admin": p.AdminToken} {
		absent := revoke(p.Bob, "apikey-absent-v1", token)
		wantUserRefusal(t, "an absent key by "+who, absent, 404, "KEY_001")
		for name, id := range map[string]string{"another user's": carols, "another account's": theirs, "a user's id": p.Bob} {
			if r := revoke(p.Bob, id, token); r.Status != 404 || string(r.Raw) != string(absent.Raw) {
				t.Errorf("%s by %s: %d %s", name, who, r.Status, r.Raw)
			}
		}
	}
	nobody := revoke("user-absent-v1", theirs, p.AdminToken)
	wantUserRefusal(t, "of nobody", nobody, 404, "USER_001")
	listed := p.Do(t, "GET", "/users/user-absent-v1/keys", "")
	wantUserRefusal(t, "api_key.list of nobody", listed, 404, "USER_001")
	for name, user := range map[string]string{"an outsider": other.Bob, "a member's UUID": harness.UUIDOf(p.Carol), "the admin's own": harness.UUIDOf(p.Admin)} {
		if r := revoke(user, theirs, p.AdminToken); r.Status != 404 || string(r.Raw) != string(nobody.Raw) {
			t.Errorf("api_key.revoke of %s: %d %s", name, r.Status, r.Raw)
		}
		if r := p.Do(t, "GET", "/users/"+user+"/keys", ""); r.Status != 404 || string(r.Raw) != string(listed.Raw) {
			t.Errorf("api_key.list of %s: %d %s", name, r.Status, r.Raw)
		}
	}
	for name, r := range map[string]harness.Reply{
		"another user's":    p.on(t, "GET", "/users/"+p.Carol+"/profile", raw, ""),
		"another account's": other.on(t, "GET", "/users/"+other.Bob+"/profile", foreign, ""),
	} {
		if r.Status != 200 {
			t.Errorf("the key that is %s does not work any more: %d %s", name, r.Status, r.Raw)
		}
	}
}

// TestKeyActsInItsAccountOnly: its owner's place, and no other account's, is where it is
// good, and the account's other members are not its owner.
func TestKeyActsInItsAccountOnly(t *testing.T) {
	t.Parallel()
	p, other := newPeople(t), newPeople(t)
	key, _ := newKey(t, p.Scene, p.Admin, readWrite)
	for name, c := range other.calls(other.Bob) {
		if name == "user.create" || name == "user.find" { // of services
			continue
		}
		wantUserRefusal(t, name+" elsewhere", other.make(t, c, key), 403, "AUTH_003")
	}
	for name, c := range p.calls(p.Carol) {
		if name == "user.create" || name == "user.find" || name == "user_profile.update" || name == "user_profile.get" || name == "api_key.create" {
			wantUserRefusal(t, name+" for somebody else", p.make(t, c, key), 403, "AUTH_003")
		}
	}
	if r := p.on(t, "GET", "/users", key, ""); r.Status != 200 {
		t.Errorf("user.list at home: %d %s", r.Status, r.Raw)
	}
}
