package api_test

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// unknownKey is a key in good form that nobody was given.
func unknownKey(t testing.TB) string {
	t.Helper()
	secret := make([]byte, 32)
	must.Get(rand.Read(secret))(t)
	master := must.Get(resources.ReadMasterKey(strings.NewReader(base64.StdEncoding.EncodeToString(secret))))(t)
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

// guessed is a key in good form with the id of a key that is in use, and another secret.
func guessed(raw string) string {
	const letters, checksum = "0123456789abcdefghjkmnpqrstvwxyz", 7
	body := mistyped(raw[:len(raw)-checksum], len(raw)-checksum-1)
	sum, tail := crc32.ChecksumIEEE([]byte(body)), ""
	for range checksum {
		tail = string(letters[sum&31]) + tail
		sum >>= 5
	}
	return body + tail
}

// expiredKey is a key that has been used, and is over.
func expiredKey(t testing.TB, s *harness.Team) string {
	t.Helper()
	token, user := s.UserToken(t, s.Bob), s.Path("/users/"+s.Bob)
	for holds := 3 * time.Second; ; holds *= 2 { // a busy machine may take longer until it is used
		r := harness.Call(t, "POST", user+"/keys", token, fmt.Sprintf(
			`{"key_name":"k","scopes":["read"],"expires_at":%q}`, time.Now().Add(holds).UTC().Format(time.RFC3339Nano)))
		key, _ := harness.At(r.Body, "data", "raw_key").(string)
		if r.Status == 201 && harness.Call(t, "GET", user+"/profile", key, "").Status == 200 {
			harness.Soon(t, "the key has expired", func() bool { return harness.Call(t, "GET", user+"/profile", key, "").Status == 401 })
			return key
		}
		if holds > 20*time.Second {
			t.Fatalf("a key that holds for %s: %d", holds, r.Status)
		}
	}
}

// refusedKeys are keys that are refused for every reason there is.
func refusedKeys(t testing.TB, s *harness.Team) map[string]string {
	t.Helper()
	revoked, id := newKey(t, s.Scene, s.Bob, readWrite)
	if r := harness.Call(t, "DELETE", s.Path("/users/"+s.Bob+"/keys/"+id), s.UserToken(t, s.Bob), ""); r.Status != 200 {
		t.Fatalf("api_key.revoke: %d %s", r.Status, r.Raw)
	}
	suspended, _ := newKey(t, s.Scene, s.Carol, readWrite)
	setStatus(t, s.Scene, s.Carol, "SUSPENDED")
	good, _ := newKey(t, s.Scene, s.Bob, readWrite)
	if _, ok := resources.ParseAPIKey(guessed(good)); !ok {
		t.Fatal("the guessed key is found out by its form")
	}
	return map[string]string{
		"guessed": guessed(good),
		"unknown": unknownKey(t), "revoked": revoked, "expired": expiredKey(t, s), "of a suspended owner": suspended,
		"bad checksum": mistyped(good, len(good)-1), "mistyped secret": mistyped(good, len(good)-20), "mistyped id": mistyped(good, 20),
		"too short": good[:len(good)-1], "too long": good + "0", "the prefix alone": "pcl_sk_live_", "other letters": good[:12] + strings.ToUpper(good[12:]),
		"of a test system": strings.Replace(good, "live", "test", 1),
	}
}

// TestRefusedKeysLookAlike: unknown, malformed, mistyped, expired and revoked keys have
// byte for byte one answer in each area, status line, headers and body, in all ways of
// presenting them. But for the date; the request's id is the caller's here.
func TestRefusedKeysLookAlike(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	keys := refusedKeys(t, s)
	for path, body := range map[string]string{
		"/users/" + s.Bob + "/profile": `{"success":false,"error":{"code":"AUTH_002","type":"unauthorized","message":"invalid or expired authentication token","details":""}}`,
		"/users/" + s.Bob + "/keys":    `{"success":false,"error":{"code":"AUTH_002","type":"unauthorized","message":"invalid or expired authentication token","details":""}}`,
		"/roles":                       `{"error":{"code":"UNAUTHORIZED","message":"invalid or expired authentication token"}}`,
	} {
		want := ""
		for name, key := range keys {
			for way, headers := range map[string]string{
				"X-API-Key": "X-API-Key: " + key + "\r\n",
				"Bearer":    "Authorization: Bearer " + key + "\r\n",
				"both":      "Authorization: Bearer " + key + "\r\nX-API-Key: " + key + "\r\n",
			} {
				got := wholeAnswer(t, s.URL, "GET /api/v1/accounts/"+s.Account+path+" HTTP/1.1\r\nHost: gateway\r\nX-Request-ID: refused\r\nConnection: close\r\n"+headers+"\r\n")
				if want == "" {
					want = got
				}
				head, text, _ := strings.Cut(got, "\r\n\r\n")
				if got != want || text != body || !strings.HasPrefix(head, "HTTP/1.1 401 ") || !strings.Contains(head, "X-Request-Id: refused") {
					t.Errorf("%s: a key %s as %s:\n%s\nwant\n%s", path, name, way, got, want)
				}
			}
		}
	}
}

var dateLine = regexp.MustCompile(`\r\nDate: [^\r]+ GMT\r\n`)

// wholeAnswer is every byte of a connection until its end, without the one date.
func wholeAnswer(t testing.TB, url, request string) string {
	t.Helper()
	c := must.Get(net.Dial("tcp", strings.TrimPrefix(url, "http://")))(t)
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	must.Get(io.WriteString(c, request))(t)
	answer, err := io.ReadAll(c)
	if err != nil || len(dateLine.FindAll(answer, -1)) != 1 {
		t.Fatalf("%v: %q", err, answer)
	}
	return dateLine.ReplaceAllString(string(answer), "\r\n")
}

// TestTwoCredentialsMustBeOnePerson: a key beside a token of its owner is the key; of
// somebody else, or sent twice, it is refused.
func TestTwoCredentialsMustBeOnePerson(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	key, _ := newKey(t, s.Scene, s.Bob, readOnly)
	profile, token := s.Path("/users/"+s.Bob+"/profile"), s.UserToken(t, s.Bob)
	if r := harness.Call(t, "GET", profile, token, "", "X-API-Key", key); r.Status != 200 {
		t.Errorf("key and token of one user: %d %s", r.Status, r.Raw)
	}
	wantUserRefusal(t, "a write with both", harness.Call(t, "PUT", profile, token, `{"name":"N"}`, "X-API-Key", key), 403, "AUTH_003")
	wantUserRefusal(t, "somebody else's token", harness.Call(t, "GET", profile, s.AdminToken, "", "X-API-Key", key), 400, "REQ_001")
	wantUserRefusal(t, "the key twice", harness.Call(t, "GET", profile, "", "", "X-API-Key", key, "X-API-Key", key), 400, "REQ_001")
}
