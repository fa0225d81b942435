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
	list := func(token string) harness.Reply { return p.call(t, "GET", keys, token, "") }
	revoke := func(token string) harness.Reply { return p.call(t, "DELETE", keys+"/"+id, token, "") }
	if r := list(reader); r.Status != 200 || harness.At(r.Body, "data", "keys", 0, "id") != id {
		t.Errorf("api_key.list by a reader: %d %s", r.Status, r.Raw)
	}
	wantUserRefusal(t, "api_key.revoke by a reader", revoke(reader), 403, "AUTH_003")
	wantUserRefusal(t, "api_key.list by one who deletes", list(deleter), 403, "AUTH_003")
	for name, token := range map[string]string{"that syncs users": p.sync, "of the platform": p.Platform} {
		wantUserRefusal(t, "api_key.list by the service "+name, list(token), 403, "AUTH_003")
		wantUserRefusal(t, "api_key.revoke by the service "+name, revoke(token), 403, "AUTH_003")
	}
	if r := p.call(t, "GET", "/users/"+p.Bob+"/profile", raw, ""); r.Status != 200 {
		t.Fatalf("after what was refused: %d %s", r.Status, r.Raw)
	}
	if r := revoke(deleter); r.Status != 200 {
		t.Errorf("api_key.revoke by one who deletes: %d %s", r.Status, r.Raw)
	}
	wantUserRefusal(t, "the revoked key", p.call(t, "GET", "/users/"+p.Bob+"/profile", raw, ""), 401, "AUTH_002")
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
	if r := p.call(t, "GET", "/users", key, ""); r.Status != 200 {
		t.Errorf("user.list at home: %d %s", r.Status, r.Raw)
	}
}
