package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// userTypes are the types that go with the codes of users and keys.
var userTypes = map[string]string{
	"AUTH_001": "unauthorized", "AUTH_002": "unauthorized", "AUTH_003": "forbidden", "REQ_001": "bad_request",
	"USER_001": "not_found", "KEY_001": "not_found", "USER_002": "conflict", "RATE_001": "rate_limited",
}

// wantUserRefusal holds an answer to a status and to the error body of users and keys:
// exactly its fields, in its order.
func wantUserRefusal(t testing.TB, what string, r reply, status int, code string) {
	t.Helper()
	message, _ := at(r.Body, "error", "message").(string)
	details, ok := at(r.Body, "error", "details").(string)
	want := fmt.Sprintf(`{"success":false,"error":{"code":%q,"type":%q,"message":%s,"details":%s}}`,
		code, userTypes[code], quotedJSON(message), quotedJSON(details))
	if r.Status != status || string(r.Raw) != want || message == "" || !ok {
		t.Errorf("%s: %d %s, want %d %s", what, r.Status, r.Raw, status, code)
	}
	if r.Header.Get("X-Request-ID") == "" || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s: headers %v", what, r.Header)
	}
	if (status == http.StatusUnauthorized) != (r.Header.Get("WWW-Authenticate") == "Bearer") {
		t.Errorf("%s: %d with WWW-Authenticate %q", what, status, r.Header.Get("WWW-Authenticate"))
	}
	if (status == http.StatusTooManyRequests) != (r.Header.Get("Retry-After") != "") {
		t.Errorf("%s: %d with Retry-After %q", what, status, r.Header.Get("Retry-After"))
	}
}

func quotedJSON(s string) string {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s)
	return strings.TrimSuffix(out.String(), "\n")
}

// wantMessage holds an answer to 200 and nothing but a message.
func wantMessage(t testing.TB, what string, r reply) {
	t.Helper()
	if message, _ := r.Body["message"].(string); r.Status != 200 || message == "" || len(r.Body) != 1 {
		t.Errorf("%s: %d %s, want 200 with a message alone", what, r.Status, r.Raw)
	}
}

// soon asks again and again until it is so, for half a minute at most.
func soon(t testing.TB, what string, so func() bool) {
	t.Helper()
	soonWithin(t, 30*time.Second, what, so)
}

func soonWithin(t testing.TB, limit time.Duration, what string, so func() bool) {
	t.Helper()
	end := time.After(limit)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("%s: not so after %s", what, limit)
		}
	}
}

// mailsTo are the letters in the data folder that go to the address.
func (g *gatewayProcess) mailsTo(t testing.TB, address string) int {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(g.DataDir, "mail", "*.eml"))
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\r\nTo: <"+address+">\r\n") {
			count++
		}
	}
	return count
}

// drained waits until the outbox holds nothing more that is to be sent.
func (g *gatewayProcess) drained(t testing.TB) {
	t.Helper()
	soon(t, "the outbox is empty", func() bool {
		return strings.Contains(string(call(t, "GET", g.HealthURL+"/metrics", "", "").Raw), "\nportcullis_outbox_pending 0\n")
	})
}

// newKey makes an API key of the user by api_key.create.
func (s *scene) newKey(t testing.TB, user, scopes string) (raw, id string) {
	t.Helper()
	r := call(t, "POST", s.path("/users/"+user+"/keys"), s.userToken(t, user), `{"key_name":"k","scopes":[`+scopes+`]}`)
	raw, _ = at(r.Body, "data", "raw_key").(string)
	id, _ = at(r.Body, "data", "id").(string)
	if r.Status != 201 || raw == "" || id == "" {
		t.Fatalf("api_key.create: %d", r.Status)
	}
	return raw, id
}

const (
	readOnly  = `"read"`
	writeOnly = `"write"`
	readWrite = `"read","write"`
)

// setStatus is user.update by the admin.
func (s *scene) setStatus(t testing.TB, user, status string) {
	t.Helper()
	r := call(t, "PUT", s.URL+"/api/v1/users/"+user, s.AdminToken, fmt.Sprintf(`{"status":%q}`, status), "x-account-id", s.Account)
	if r.Status != 200 {
		t.Fatalf("user.update %s: %d %s", status, r.Status, r.Raw)
	}
}

// invite is user.invite by the admin.
func (s *scene) invite(t testing.TB, email string) reply {
	t.Helper()
	return s.do(t, "POST", "/users/invite", fmt.Sprintf(`{"email":%q}`, email))
}

// newPeople are people in the shared gateway, asked on its first listener.
func newPeople(t testing.TB) *people {
	t.Helper()
	s := newTeam(t)
	return &people{team: s, base: s.URL, sync: s.serviceToken(t, "users:sync")}
}

// record is what user.find shows of the user.
func (p *people) record(t testing.TB, id string) map[string]any {
	t.Helper()
	r := call(t, "GET", p.base+"/api/v1/users?external_id="+id, p.sync, "")
	record, _ := at(r.Body, "users", 0).(map[string]any)
	if r.Status != 200 || record == nil {
		t.Fatalf("user.find of %s: %d %s", id, r.Status, r.Raw)
	}
	return record
}

// wantSame holds a record to what it was.
func wantSame(t testing.TB, what string, before, after map[string]any) {
	t.Helper()
	if !reflect.DeepEqual(before, after) {
		t.Errorf("%s: it was %v, and is %v", what, before, after)
	}
}

// update is user.update of a member.
func (p *people) update(t testing.TB, user, token, body string) reply {
	t.Helper()
	return call(t, "PUT", p.base+"/api/v1/users/"+user, token, body, "x-account-id", p.Account)
}

// linked gives the user a subject of the identity provider.
func (p *people) linked(t testing.TB, user, subject string) {
	t.Helper()
	wantMessage(t, "user.update", p.update(t, user, p.sync, fmt.Sprintf(`{"authentication_partner_id":%q}`, subject)))
}

// holds gives the user a custom role with these permissions in the account.
func (s *scene) holds(t testing.TB, user, permissions string) {
	t.Helper()
	r := s.must(t, 201, "POST", "/roles", fmt.Sprintf(`{"name":"role of %s","scope":"ACCOUNT","permissions":[%s]}`, user, permissions))
	role, _ := r.Body["id"].(string)
	s.grant(t, role, user, "")
}
