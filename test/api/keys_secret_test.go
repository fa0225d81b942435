package api_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/secrets"
)

// TestRawKeyIsNowhereButInItsAnswer makes, uses, repeats and refuses keys at the debug level. No
// output, metric or file of the data folder then holds one or its secret part, as it is or in the
// bytes of JSON and tools (base64, hexadecimal). The gateway writes no traces.
func TestRawKeyIsNowhereButInItsAnswer(t *testing.T) {
	t.Parallel()
	s := harness.StartTeam(t, "--log-level", "debug")
	keys, token := s.Path("/users/"+s.Bob+"/keys"), s.UserToken(t, s.Bob)
	const body = `{"key_name":"k","scopes":["read","write"]}`
	r := harness.Call(t, "POST", keys, token, body, "Idempotency-Key", "once")
	raw, _ := harness.At(r.Body, "data", "raw_key").(string)
	id, _ := harness.At(r.Body, "data", "id").(string)
	if r.Status != 201 || len(raw) < 60 {
		t.Fatalf("api_key.create: %d", r.Status)
	}
	var said [][]byte
	say := func(r harness.Reply) { said = append(said, r.Raw) }
	say(harness.Call(t, "POST", keys, token, body, "Idempotency-Key", "once"))
	say(harness.Call(t, "GET", keys, raw, ""))
	say(harness.Call(t, "GET", keys, "", "", "X-API-Key", raw))
	say(harness.Call(t, "GET", s.Path("/roles"), raw, ""))
	say(harness.Call(t, "GET", keys, raw+"0", ""))
	say(harness.Call(t, "GET", keys, "", "", "Authorization", "Basic "+raw))
	say(harness.Call(t, "POST", keys, raw, body))
	say(harness.Call(t, "DELETE", keys+"/"+id, raw, ""))
	say(harness.Call(t, "GET", keys, raw, ""))
	say(harness.Call(t, "GET", s.HealthURL+"/metrics", "", ""))
	secret := []byte(raw[len("pcl_sk_live_")+26:])
	for i, text := range said {
		if secrets.Shows(text, secret) {
			t.Errorf("answer %d holds the key", i)
		}
	}
	s.SearchFiles(t, secret) // while it runs, with the write-ahead log
	s.Terminate(t)
	if code := s.Ended(t); code != 0 {
		t.Errorf("exit %d", code)
	}
	s.SearchFiles(t, secret)
	log := s.Stderr.String()
	if secrets.Shows([]byte(log+s.Stdout.String()), secret) {
		t.Error("the log holds the key")
	}
	if !strings.Contains(log, id) { // else the search proves nothing
		t.Errorf("the log does not name the key's id")
	}
}
