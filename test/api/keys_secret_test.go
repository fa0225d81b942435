package api_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRawKeyIsNowhereButInItsAnswer: after keys were made, used, repeated and refused at
// the debug level, no output, metric or file of the data folder holds one, nor its secret
// part, as it is or as JSON and tools write bytes (base64, hexadecimal). There are no traces.
func TestRawKeyIsNowhereButInItsAnswer(t *testing.T) {
	t.Parallel()
	s := startTeam(t, "--log-level", "debug")
	keys, token := s.path("/users/"+s.Bob+"/keys"), s.userToken(t, s.Bob)
	const body = `{"key_name":"k","scopes":["read","write"]}`
	r := call(t, "POST", keys, token, body, "Idempotency-Key", "once")
	raw, _ := at(r.Body, "data", "raw_key").(string)
	id, _ := at(r.Body, "data", "id").(string)
	if r.Status != 201 || len(raw) < 60 {
		t.Fatalf("api_key.create: %d", r.Status)
	}
	var said [][]byte
	say := func(r reply) { said = append(said, r.Raw) }
	say(call(t, "POST", keys, token, body, "Idempotency-Key", "once"))
	say(call(t, "GET", keys, raw, ""))
	say(call(t, "GET", keys, "", "", "X-API-Key", raw))
	say(call(t, "GET", s.path("/roles"), raw, ""))
	say(call(t, "GET", keys, raw+"0", ""))
	say(call(t, "GET", keys, "", "", "Authorization", "Basic "+raw))
	say(call(t, "POST", keys, raw, body))
	say(call(t, "DELETE", keys+"/"+id, raw, ""))
	say(call(t, "GET", keys, raw, ""))
	say(call(t, "GET", s.HealthURL+"/metrics", "", ""))
	secret := []byte(raw[len("pcl_sk_live_")+26:])
	for i, text := range said {
		if showsSecret(text, secret) {
			t.Errorf("answer %d holds the key", i)
		}
	}
	s.searchFiles(t, secret) // while it runs, with the write-ahead log
	s.terminate(t)
	if code := s.ended(t); code != 0 {
		t.Errorf("exit %d", code)
	}
	s.searchFiles(t, secret)
	log := s.stderr.String()
	if showsSecret([]byte(log+s.stdout.String()), secret) {
		t.Error("the log holds the key")
	}
	if !strings.Contains(log, id) { // else the search proves nothing
		t.Errorf("the log does not name the key's id")
	}
}

// showsSecret says whether the text has the secret in it, plain, in either letters, in base64 at
// any place of a longer text, or in hexadecimal.
func showsSecret(text, secret []byte) bool {
	forms := []string{string(secret), strings.ToUpper(string(secret)), hex.EncodeToString(secret), strings.ToUpper(hex.EncodeToString(secret))}
	for skip := range 3 {
		whole := secret[skip : skip+(len(secret)-skip)/3*3] // else the neighbours are in its ends
		forms = append(forms, base64.StdEncoding.EncodeToString(whole))
	}
	for _, form := range forms {
		if bytes.Contains(text, []byte(form)) {
			return true
		}
	}
	return false
}

// searchFiles finds no secret in any file of the data folder, and at least one file.
func (g *gatewayProcess) searchFiles(t testing.TB, secret []byte) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(g.DataDir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		files++
		if showsSecret(content, secret) {
			t.Errorf("%s holds the key", path)
		}
		return err
	})
	if onMongoDB() {
		files += g.searchDatabase(t, secret)
	}
	if err != nil || files < 2 {
		t.Errorf("searched %d files: %v", files, err)
	}
}
