package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/harness"
)

// makeKey is api_key.create by the user.
func (p *people) makeKey(t testing.TB, user, body string) harness.Reply {
	t.Helper()
	return p.on(t, "POST", "/users/"+user+"/keys", p.UserToken(t, user), body)
}

// keysOf are a user's keys by api_key.list of the admin, in its order.
func (p *people) keysOf(t testing.TB, user string) []any {
	t.Helper()
	r := p.Must(t, 200, "GET", "/users/"+user+"/keys", "")
	keys, ok := harness.At(r.Body, "data", "keys").([]any)
	if !ok || strings.Contains(string(r.Raw), "sk_live") {
		t.Errorf("api_key.list: %s", r.Raw)
	}
	return keys
}

// TestKeyIsMadeAsAsked: the name at its bounds, every set of scopes and an end come
// back; the raw key has the form, with the key's id and checksum in it, and is never the
// same.
func TestKeyIsMadeAsAsked(t *testing.T) {
	t.Parallel()
	p := newPeople(t)
	seen := map[string]bool{}
	for _, name := range []string{"x", strings.Repeat("ä", 100), "CI / deploy <\\\"&> 'x'"} {
		for _, scopes := range []string{readOnly, writeOnly, readWrite, `"write","read"`} {
			for _, end := range []string{"", `,"expires_at":null`, `,"expires_at":"2999-12-31T23:59:59.5+01:00"`} {
				r := p.makeKey(t, p.Bob, fmt.Sprintf(`{"key_name":"%s","scopes":[%s]%s}`, name, scopes, end))
				raw, _ := harness.At(r.Body, "data", "raw_key").(string)
				id, ok := resources.ParseAPIKey(raw)
				if r.Status != 201 || !ok || seen[raw] || id != harness.At(r.Body, "data", "id") || r.Header.Get("Cache-Control") != "no-store" {
					t.Fatalf("api_key.create: %d", r.Status)
				}
				seen[raw] = true
				key := harness.ItemWith(p.keysOf(t, p.Bob), "id", id)
				var ends any
				if strings.Contains(end, "2999") {
					ends = "2999-12-31T22:59:59.500Z"
				}
				for _, shown := range []any{harness.At(r.Body, "data"), key} {
					if harness.At(shown, "key_name") != strings.ReplaceAll(name, `\"`, `"`) || fmt.Sprint(harness.At(shown, "scopes")) != "["+strings.NewReplacer(`"`, "", ",", " ").Replace(scopes)+"]" || harness.At(shown, "expires_at") != ends {
						t.Errorf("%q, %s%s is shown as %v", name, scopes, end, key)
					}
					harness.WantTimes(t, shown, "created_at")
				}
			}
		}
	}
}

// TestKeyIsRefusedForItsRequest, and none is made.
func TestKeyIsRefusedForItsRequest(t *testing.T) {
	t.Parallel()
	p := newPeople(t)
	for name, body := range map[string]string{
		"no body": ``, "nothing": `{}`, "no name": `{"scopes":["read"]}`, "an empty name": `{"key_name":"","scopes":["read"]}`, "blanks": `{"key_name":"  ","scopes":["read"]}`,
		"101 characters": fmt.Sprintf(`{"key_name":%q,"scopes":["read"]}`, strings.Repeat("ä", 101)), "a number": `{"key_name":5,"scopes":["read"]}`, "a line break": `{"key_name":"a\nb","scopes":["read"]}`,
		"no scopes": `{"key_name":"k"}`, "null scopes": `{"key_name":"k","scopes":null}`, "an empty set": `{"key_name":"k","scopes":[]}`, "scopes as text": `{"key_name":"k","scopes":"read"}`,
		"another scope too": `{"key_name":"k","scopes":["read","admin"]}`, "all": `{"key_name":"k","scopes":["*"]}`, "in capitals": `{"key_name":"k","scopes":["READ"]}`, "one twice": `{"key_name":"k","scopes":["read","read"]}`,
		"an end in the past": `{"key_name":"k","scopes":["read"],"expires_at":"2020-01-01T00:00:00Z"}`, "an end that is none": `{"key_name":"k","scopes":["read"],"expires_at":"tomorrow"}`, "an end as a number": `{"key_name":"k","scopes":["read"],"expires_at":4102444800}`,
		"a key of one's own choice": `{"key_name":"k","scopes":["read"],"raw_key":"pcl_sk_live_x"}`, "an unknown field": `{"key_name":"k","scopes":["read"],"is_active":true}`, "a field twice": `{"key_name":"k","scopes":["read"],"scopes":["write"]}`,
	} {
		wantUserRefusal(t, name, p.makeKey(t, p.Bob, body), 400, "REQ_001")
	}
	if keys := p.keysOf(t, p.Bob); len(keys) != 0 {
		t.Errorf("%v", keys)
	}
}

// TestKeyIsMadeForOneselfOnly: not by an admin, not by a service, and one answer
// whether the user is there or not. A UUID is no name of a user here.
func TestKeyIsMadeForOneselfOnly(t *testing.T) {
	t.Parallel()
	p, other := newPeople(t), newPeople(t)
	const body = `{"key_name":"k","scopes":["read"]}`
	bob := p.UserToken(t, p.Bob)
	absent := p.on(t, "POST", "/users/user-absent-v1/keys", p.AdminToken, body)
	for name, r := range map[string]harness.Reply{
		"an absent user": absent,
		"a member":       p.on(t, "POST", "/users/"+p.Bob+"/keys", p.AdminToken, body),
		"an outsider":    p.on(t, "POST", "/users/"+other.Bob+"/keys", p.AdminToken, body),
		"one's own UUID": p.on(t, "POST", "/users/"+harness.UUIDOf(p.Bob)+"/keys", bob, body),
		"elsewhere":      other.on(t, "POST", "/users/"+p.Bob+"/keys", bob, body),
	} {
		wantUserRefusal(t, name, r, 403, "AUTH_003")
		if string(r.Raw) != string(absent.Raw) {
			t.Errorf("%s: %s, an absent user: %s", name, r.Raw, absent.Raw)
		}
	}
	wantUserRefusal(t, "a service", p.on(t, "POST", "/users/"+p.Bob+"/keys", p.sync, body), 403, "AUTH_003")
	if keys := p.keysOf(t, p.Bob); len(keys) != 0 {
		t.Errorf("%v", keys)
	}
	another := p.on(t, "GET", "/users/"+p.Carol+"/keys", bob, "")
	if r := p.on(t, "GET", "/users/"+harness.UUIDOf(p.Bob)+"/keys", bob, ""); r.Status != 403 || string(r.Raw) != string(another.Raw) {
		t.Errorf("api_key.list by one's own UUID: %d %s, another's: %s", r.Status, r.Raw, another.Raw)
	}
}

// TestFiftyKeysAreTheMost: past them 409; a revoked one makes room, and another user
// has their own.
func TestFiftyKeysAreTheMost(t *testing.T) {
	t.Parallel()
	p := newPeople(t)
	keys, bob := p.Path("/users/"+p.Bob+"/keys"), p.UserToken(t, p.Bob)
	const body = `{"key_name":"k","scopes":["read"]}`
	var last string
	for n := range 50 {
		r := harness.Call(t, "POST", keys, bob, body)
		if last, _ = harness.At(r.Body, "data", "id").(string); r.Status != 201 {
			t.Fatalf("key %d: %d %s", n+1, r.Status, r.Raw)
		}
	}
	wantUserRefusal(t, "one more", harness.Call(t, "POST", keys, bob, body), 409, "USER_002")
	if n := len(p.keysOf(t, p.Bob)); n != 50 {
		t.Errorf("%d keys", n)
	}
	newKey(t, p.Scene, p.Carol, readOnly)
	if r := harness.Call(t, "DELETE", keys+"/"+last, bob, ""); r.Status != 200 {
		t.Fatalf("api_key.revoke: %d %s", r.Status, r.Raw)
	}
	if r := harness.Call(t, "POST", keys, bob, body); r.Status != 201 {
		t.Errorf("in the room of a revoked one: %d", r.Status)
	}
	wantUserRefusal(t, "one more again", harness.Call(t, "POST", keys, bob, body), 409, "USER_002")
}

// TestKeysAreListedToTheEnd: newest first, revoked and expired ones too, which are
// not active any more.
func TestKeysAreListedToTheEnd(t *testing.T) {
	t.Parallel()
	p := newPeople(t)
	var ids, want []string // want is by time, and by id where two were made in one millisecond
	for n := range 3 {
		end := [...]string{`"2999-01-01T00:00:00Z"`, `"` + time.Now().Add(4*time.Second).UTC().Format(time.RFC3339Nano) + `"`, `null`}[n]
		r := p.makeKey(t, p.Bob, fmt.Sprintf(`{"key_name":"key %d","scopes":["read"],"expires_at":%s}`, n, end))
		id, _ := harness.At(r.Body, "data", "id").(string)
		if r.Status != 201 {
			t.Fatalf("api_key.create: %d", r.Status)
		}
		ids, want = append(ids, id), append(want, fmt.Sprint(harness.At(r.Body, "data", "created_at"), " ", id))
	}
	slices.Sort(want)
	slices.Reverse(want)
	active := func() string {
		keys := p.keysOf(t, p.Bob)
		for i, id := range harness.Texts(keys, "id") {
			if len(keys) != len(want) || !strings.HasSuffix(want[i], " "+id) {
				t.Fatalf("listed as %v, want %v", harness.Texts(keys, "id"), want)
			}
		}
		is := func(n int) any { return harness.At(harness.ItemWith(keys, "id", ids[n]), "is_active") }
		return fmt.Sprint(is(0), is(1), is(2))
	}
	harness.Soon(t, "the second key has ended", func() bool { return active() == "true false true" })
	p.Must(t, 200, "DELETE", "/users/"+p.Bob+"/keys/"+ids[2], "")
	if got := active(); got != "true false false" {
		t.Errorf("after api_key.revoke: %s", got)
	}
}

// TestLastUseIsKept: written together and not for each request, at the latest when
// the gateway ends; a key that was never used has none, and neither has one refused.
func TestLastUseIsKept(t *testing.T) {
	t.Parallel()
	p := &people{Team: harness.StartTeam(t)}
	p.base = p.URL
	used, usedID := newKey(t, p.Scene, p.Bob, readOnly)
	_, otherID := newKey(t, p.Scene, p.Bob, readOnly)
	from := time.Now().Add(-time.Millisecond)
	if r := p.on(t, "GET", "/users/"+p.Bob+"/profile", used, ""); r.Status != 200 {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
	until := time.Now()
	p.Terminate(t)
	if code := p.Ended(t); code != 0 {
		t.Fatalf("exit %d", code)
	}
	p.Gateway = harness.StartIn(t, p.DataDir)
	keys := p.keysOf(t, p.Bob)
	key := harness.ItemWith(keys, "id", usedID)
	harness.WantFields(t, "the used key", key, "id", "key_name", "masked_key", "scopes", "is_active", "last_used_at", "created_at")
	harness.WantFields(t, "the other one", harness.ItemWith(keys, "id", otherID), "id", "key_name", "masked_key", "scopes", "is_active", "created_at")
	harness.WantTimes(t, key, "last_used_at")
	text, _ := harness.At(key, "last_used_at").(string)
	if last, err := time.Parse(time.RFC3339, text); err != nil || last.Before(from) || last.After(until) {
		t.Errorf("last used %s, in truth between %s and %s", text, from, until)
	}
}
