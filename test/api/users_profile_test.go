package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestSuspendedAccountServesNobody: not one's own profile and keys either, with a token
// or a key; but the service that syncs users works, and with the account all work again.
func TestSuspendedAccountServesNobody(t *testing.T) {
	t.Parallel()
	p := newPeople(t)
	key, id := newKey(t, p.Scene, p.Bob, readWrite)
	bob, path := p.UserToken(t, p.Bob), "/users/"+p.Bob
	set := func(status string) {
		if r := harness.Call(t, "PATCH", p.Path(""), p.Platform, fmt.Sprintf(`{"status":%q}`, status)); r.Status != 200 {
			t.Fatalf("account.update: %d %s", r.Status, r.Raw)
		}
	}
	set("SUSPENDED")
	for name, c := range p.calls(p.Bob) {
		if name == "user.create" || name == "user.find" {
			continue // of services
		}
		wantUserRefusal(t, name+" by the admin", p.make(t, c, p.AdminToken), 403, "AUTH_003")
		wantUserRefusal(t, name+" by oneself", p.make(t, c, bob), 403, "AUTH_003")
		wantUserRefusal(t, name+" with a key", p.make(t, c, key), 403, "AUTH_003")
	}
	harness.WantMessage(t, "user.update by the service", p.update(t, p.Bob, p.sync, `{"name":"Synced"}`))
	if p.record(t, p.Bob)["name"] != "Synced" {
		t.Error("the service's change is not there")
	}
	set("ACTIVE")
	for name, credential := range map[string]string{"token": bob, "key": key} {
		if r := p.call(t, "GET", path+"/profile", credential, ""); r.Status != 200 || harness.At(r.Body, "user", "name") != "Synced" {
			t.Errorf("with a %s of an account that is active again: %d %s", name, r.Status, r.Raw)
		}
	}
	if r := p.call(t, "GET", path+"/keys", bob, ""); harness.At(r.Body, "data", "keys", 0, "id") != id || len(harness.Texts(harness.At(r.Body, "data", "keys"), "id")) != 1 {
		t.Errorf("api_key.list: %s", r.Raw)
	}
}

// TestUsersAndKeysRefuseForeignBodies: too large, of another type, encoded, and a query
// where none is known, in the shape of users and keys.
func TestUsersAndKeysRefuseForeignBodies(t *testing.T) {
	t.Parallel()
	p := newPeople(t)
	for name, c := range p.calls(p.Admin) {
		if c.method == "GET" || c.body == "" {
			continue
		}
		ask := func(path, body string, headers ...string) harness.Reply {
			return harness.Call(t, c.method, p.URL+path, p.AdminToken, body, append(headers, "x-account-id", p.Account)...)
		}
		if name != "user.create" { // 403 comes first
			wantUserRefusal(t, name+" with a query", ask(c.path+"?x=1", c.body), 400, "REQ_001")
		}
		wantUserRefusal(t, name+" encoded", ask(c.path, c.body, "Content-Encoding", "gzip"), 415, "REQ_001")
		form := harness.SendRaw(t, p.URL, fmt.Sprintf("%s %s HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s",
			c.method, c.path, p.AdminToken, len(c.body), c.body))
		r := harness.Reply{Status: form.Status, Header: form.Header, Raw: []byte(form.Body)}
		_ = json.Unmarshal(r.Raw, &r.Body)
		wantUserRefusal(t, name+" as text", r, 415, "REQ_001")
		large := fmt.Sprintf(`{"name":%q}`, strings.Repeat("x", 1<<20))
		wantUserRefusal(t, name+" too large", ask(c.path, large), 413, "REQ_001")
	}
}
