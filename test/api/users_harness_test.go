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

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// userTypes are the types that go with the codes of users and keys.
var userTypes = map[string]string{
	"AUTH_001": "unauthorized", "AUTH_002": "unauthorized", "AUTH_003": "forbidden", "REQ_001": "bad_request",
	"USER_001": "not_found", "KEY_001": "not_found", "USER_002": "conflict", "RATE_001": "rate_limited",
}

// wantUserRefusal holds an answer to a status and to the error body of users and keys:
// exactly its fields, in its order.
func wantUserRefusal(t testing.TB, name string, r harness.Reply, status int, code string) {
	t.Helper()
	message, _ := harness.At(r.Body, "error", "message").(string)
	details, ok := harness.At(r.Body, "error", "details").(string)
	want := fmt.Sprintf(`{"success":false,"error":{"code":%q,"type":%q,"message":%s,"details":%s}}`,
		code, userTypes[code], quotedJSON(message), quotedJSON(details))
	if r.Status != status || string(r.Raw) != want || message == "" || !ok {
		t.Errorf("%s: %d %s, want %d %s", name, r.Status, r.Raw, status, code)
	}
	if r.Header.Get("X-Request-ID") == "" || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s: headers %v", name, r.Header)
	}
	if (status == http.StatusUnauthorized) != (r.Header.Get("WWW-Authenticate") == "Bearer") {
		t.Errorf("%s: %d with WWW-Authenticate %q", name, status, r.Header.Get("WWW-Authenticate"))
	}
	if (status == http.StatusTooManyRequests) != (r.Header.Get("Retry-After") != "") {
		t.Errorf("%s: %d with Retry-After %q", name, status, r.Header.Get("Retry-After"))
	}
}

func quotedJSON(s string) string {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s)
	return strings.TrimSuffix(out.String(), "\n")
}

// mailsTo are the letters in the data folder that go to the address.
func mailsTo(t testing.TB, g *harness.Gateway, address string) int {
	t.Helper()
	paths := must.Get(filepath.Glob(filepath.Join(g.DataDir, "mail", "*.eml")))(t)
	count := 0
	for _, path := range paths {
		text := must.Get(os.ReadFile(path))(t)
		if strings.Contains(string(text), "\r\nTo: <"+address+">\r\n") {
			count++
		}
	}
	return count
}

// newKey makes an API key of the user by api_key.create.
func newKey(t testing.TB, s *harness.Scene, user, scopes string) (raw, id string) {
	t.Helper()
	r := harness.Call(t, "POST", s.Path("/users/"+user+"/keys"), s.UserToken(t, user), `{"key_name":"k","scopes":[`+scopes+`]}`)
	raw, _ = harness.At(r.Body, "data", "raw_key").(string)
	id, _ = harness.At(r.Body, "data", "id").(string)
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
func setStatus(t testing.TB, s *harness.Scene, user, status string) {
	t.Helper()
	r := harness.Call(t, "PUT", s.URL+"/api/v1/users/"+user, s.AdminToken, fmt.Sprintf(`{"status":%q}`, status), "x-account-id", s.Account)
	if r.Status != 200 {
		t.Fatalf("user.update %s: %d %s", status, r.Status, r.Raw)
	}
}

// newPeople are people in the shared gateway, asked on its first listener.
func newPeople(t testing.TB) *people {
	t.Helper()
	s := harness.NewTeam(t)
	return &people{Team: s, base: s.URL, sync: s.ServiceToken(t, "users:sync")}
}

// record is what user.find shows of the user.
func (p *people) record(t testing.TB, id string) map[string]any {
	t.Helper()
	r := harness.Call(t, "GET", p.base+"/api/v1/users?external_id="+id, p.sync, "")
	record, _ := harness.At(r.Body, "users", 0).(map[string]any)
	if r.Status != 200 || record == nil {
		t.Fatalf("user.find of %s: %d %s", id, r.Status, r.Raw)
	}
	return record
}

// wantSame holds a record to what it was.
func wantSame(t testing.TB, name string, before, after map[string]any) {
	t.Helper()
	if !reflect.DeepEqual(before, after) {
		t.Errorf("%s: it was %v, and is %v", name, before, after)
	}
}

// update is user.update of a member.
func (p *people) update(t testing.TB, user, token, body string) harness.Reply {
	t.Helper()
	return harness.Call(t, "PUT", p.base+"/api/v1/users/"+user, token, body, "x-account-id", p.Account)
}

// holds gives the user a custom role with these permissions in the account.
func holds(t testing.TB, s *harness.Scene, user, permissions string) {
	t.Helper()
	r := s.Must(t, 201, "POST", "/roles", fmt.Sprintf(`{"name":"role of %s","scope":"ACCOUNT","permissions":[%s]}`, user, permissions))
	role, _ := r.Body["id"].(string)
	s.Grant(t, role, user, "")
}
