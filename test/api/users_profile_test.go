package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestProfileNameHasItsBounds: 1 to 255 characters after it was trimmed, counted as
// characters, and text; what is refused leaves the name as it was.
func TestProfileNameHasItsBounds(t *testing.T) {
	t.Parallel()
	p := newPeople(t)
	path, token := "/users/"+p.Bob+"/profile", p.UserToken(t, p.Bob)
	const last = "Last"
	for body, want := range map[string]string{
		`{"name":"x"}`: "x",
		fmt.Sprintf(`{"name":%q}`, strings.Repeat("ä", 255)):         strings.Repeat("ä", 255),
		fmt.Sprintf(`{"name":"  %s\t"}`, strings.Repeat("𝔸", 255)):   strings.Repeat("𝔸", 255),
		fmt.Sprintf(`{"name":"%s   %s"}`, "\\u00e4", " a ' \\\" <>"): "ä    a ' \" <>",
	} {
		r := p.on(t, "PUT", path, token, body)
		if r.Status != 200 || harness.At(r.Body, "user", "name") != want || harness.At(p.on(t, "GET", path, token, "").Body, "user", "name") != want {
			t.Errorf("%s: %d %s", body, r.Status, r.Raw)
		}
	}
	p.on(t, "PUT", path, token, `{"name":"`+last+`"}`)
	for name, body := range map[string]string{
		"nothing": `{}`, "no body": ``, "empty": `{"name":""}`, "blanks": `{"name":" \t\n "}`, "null": `{"name":null}`, "256 characters": fmt.Sprintf(`{"name":%q}`, strings.Repeat("ä", 256)),
		"a number": `{"name":5}`, "a list": `{"name":["x"]}`, "an operator": `{"name":{"$ne":""}}`, "twice": `{"name":"x","name":"y"}`, "two values": `{"name":"x"}{}`,
		"NUL": `{"name":"x\u0000"}`, "a lone surrogate": `{"name":"\ud800"}`, "invalid UTF-8": "{\"name\":\"\xff\"}", "a BOM": "\ufeff{\"name\":\"x\"}",
		"the status too": `{"name":"x","status":"ACTIVE"}`, "the picture too": `{"name":"x","profile_pic_url":""}`, "an id too": fmt.Sprintf(`{"name":"x","id":%q}`, p.Bob),
	} {
		wantUserRefusal(t, name, p.on(t, "PUT", path, token, body), 400, "REQ_001")
	}
	if r := p.on(t, "GET", path, token, ""); harness.At(r.Body, "user", "name") != last {
		t.Errorf("after what was refused: %s", r.Raw)
	}
}

// TestProfileIsOnesOwn: not an admin's, not a service's, and one answer whether
// the user is there or not; another account's path is refused with one's own id too.
func TestProfileIsOnesOwn(t *testing.T) {
	t.Parallel()
	p, other := newPeople(t), newPeople(t)
	bob := p.UserToken(t, p.Bob)
	before := p.record(t, p.Bob)
	for method, body := range map[string]string{"GET": "", "PUT": `{"name":"N"}`} {
		absent := p.on(t, method, "/users/user-absent-v1/profile", p.AdminToken, body)
		for name, r := range map[string]harness.Reply{
			"an absent one":            absent,
			"a member's, by the admin": p.on(t, method, "/users/"+p.Bob+"/profile", p.AdminToken, body),
			"an outsider's":            p.on(t, method, "/users/"+other.Bob+"/profile", p.AdminToken, body),
			"one's own, elsewhere":     other.on(t, method, "/users/"+p.Bob+"/profile", bob, body),
		} {
			wantUserRefusal(t, method+" "+name, r, 403, "AUTH_003")
			if string(r.Raw) != string(absent.Raw) {
				t.Errorf("%s %s: %s, an absent one: %s", method, name, r.Raw, absent.Raw)
			}
		}
		for name, token := range map[string]string{"sync": p.sync, "platform": p.Platform} {
			wantUserRefusal(t, method+" by the service "+name, p.on(t, method, "/users/"+p.Bob+"/profile", token, body), 403, "AUTH_003")
		}
	}
	wantSame(t, "bob", before, p.record(t, p.Bob))
}

// TestSuspendedAccountServesNobody: not one's own profile and keys either, with a token
// or a key; but the service that syncs users works, and with the account all work again.
func TestSuspendedAccountServesNobody(t *testing.T) {
	t.Parallel()
	p := newPeople(t)
	key, id := newKey(t, p.Scene, p.Bob, readWrite)
	bob, own := p.UserToken(t, p.Bob), "/users/"+p.Bob
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
		if r := p.on(t, "GET", own+"/profile", credential, ""); r.Status != 200 || harness.At(r.Body, "user", "name") != "Synced" {
			t.Errorf("with a %s of an account that is active again: %d %s", name, r.Status, r.Raw)
		}
	}
	if r := p.on(t, "GET", own+"/keys", bob, ""); harness.At(r.Body, "data", "keys", 0, "id") != id || len(harness.Texts(harness.At(r.Body, "data", "keys"), "id")) != 1 {
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
