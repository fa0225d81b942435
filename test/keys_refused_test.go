package test_test

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// unknownKey is a key in good form that nobody was given.
func unknownKey(t testing.TB) string {
	t.Helper()
	secret := make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		t.Fatal(err)
	}
	master, err := resources.ReadMasterKey(strings.NewReader(base64.StdEncoding.EncodeToString(secret)))
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := resources.NewAPIKeys(master).New(resources.IDs{Now: time.Now, Random: rand.Reader})
	return raw
}

// mistyped changes the key's character at i, which the checksum finds out.
func mistyped(raw string, i int) string {
	other := "0"
	if raw[i] == '0' {
		other = "1"
	}
	return raw[:i] + other + raw[i+1:]
}

// refusedKeys are keys that are refused for every reason there is.
func refusedKeys(t testing.TB, s *team) map[string]string {
	t.Helper()
	revoked, id := s.newKey(t, s.Bob, readWrite)
	if r := call(t, "DELETE", s.path("/users/"+s.Bob+"/keys/"+id), s.userToken(t, s.Bob), ""); r.Status != 200 {
		t.Fatalf("E15: %d %s", r.Status, r.Raw)
	}
	r := call(t, "POST", s.path("/users/"+s.Bob+"/keys"), s.userToken(t, s.Bob), fmt.Sprintf(
		`{"key_name":"k","scopes":["read"],"expires_at":%q}`, time.Now().Add(3*time.Second).UTC().Format(time.RFC3339Nano)))
	expired, _ := at(r.Body, "data", "raw_key").(string)
	own := s.path("/users/" + s.Bob + "/profile")
	if r.Status != 201 || call(t, "GET", own, expired, "").Status != 200 {
		t.Fatalf("a key that holds for three seconds: %d", r.Status)
	}
	soon(t, "the key has expired", func() bool { return call(t, "GET", own, expired, "").Status == 401 })
	suspended, _ := s.newKey(t, s.Carol, readWrite)
	s.setStatus(t, s.Carol, "SUSPENDED")
	good, _ := s.newKey(t, s.Bob, readWrite)
	return map[string]string{
		"unknown": unknownKey(t), "revoked": revoked, "expired": expired, "of a suspended owner": suspended,
		"bad checksum": mistyped(good, len(good)-1), "mistyped secret": mistyped(good, len(good)-20), "mistyped id": mistyped(good, 20),
		"too short": good[:len(good)-1], "too long": good + "0", "the prefix alone": "pcl_sk_live_", "other letters": good[:12] + strings.ToUpper(good[12:]),
		"of a test system": strings.Replace(good, "live", "test", 1),
	}
}

// TestRefusedKeysLookAlike: unknown, malformed, mistyped, expired and revoked keys have
// byte for byte one answer in each area, in both ways of presenting them.
func TestRefusedKeysLookAlike(t *testing.T) {
	t.Parallel()
	s := newTeam(t)
	keys := refusedKeys(t, s)
	for path, want := range map[string]string{
		s.path("/users/" + s.Bob + "/profile"): `{"success":false,"error":{"code":"AUTH_002","type":"unauthorized","message":"invalid or expired authentication token","details":""}}`,
		s.path("/roles"):                       `{"error":{"code":"UNAUTHORIZED","message":"invalid or expired authentication token"}}`,
	} {
		for name, key := range keys {
			for way, r := range map[string]reply{
				"X-API-Key": call(t, "GET", path, "", "", "X-API-Key", key),
				"Bearer":    call(t, "GET", path, key, ""),
				"both":      call(t, "GET", path, key, "", "X-API-Key", key),
			} {
				if r.Status != 401 || string(r.Raw) != want {
					t.Errorf("a key %s as %s: %d %s, want 401 %s", name, way, r.Status, r.Raw, want)
				}
				r.Header.Del("X-Request-ID")
				r.Header.Del("Date")
				if got := fields(anyHeader(r)); strings.Join(got, " ") != "Cache-Control Content-Length Content-Type Www-Authenticate" {
					t.Errorf("a key %s as %s has the headers %v", name, way, got)
				}
			}
		}
	}
}

func anyHeader(r reply) map[string]any {
	out := map[string]any{}
	for name := range r.Header {
		out[name] = true
	}
	return out
}

// TestTwoCredentialsMustBeOnePerson: a key beside a token of its owner is the key; of
// somebody else, or sent twice, it is refused.
func TestTwoCredentialsMustBeOnePerson(t *testing.T) {
	t.Parallel()
	s := newTeam(t)
	key, _ := s.newKey(t, s.Bob, readOnly)
	profile, token := s.path("/users/"+s.Bob+"/profile"), s.userToken(t, s.Bob)
	if r := call(t, "GET", profile, token, "", "X-API-Key", key); r.Status != 200 {
		t.Errorf("key and token of one user: %d %s", r.Status, r.Raw)
	}
	wantUserRefusal(t, "a write with both", call(t, "PUT", profile, token, `{"name":"N"}`, "X-API-Key", key), 403, "AUTH_003")
	wantUserRefusal(t, "somebody else's token", call(t, "GET", profile, s.AdminToken, "", "X-API-Key", key), 400, "REQ_001")
	wantUserRefusal(t, "the key twice", call(t, "GET", profile, "", "", "X-API-Key", key, "X-API-Key", key), 400, "REQ_001")
}
