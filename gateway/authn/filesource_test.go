package authn_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/test/child"
	"github.com/portcullis-authz/portcullis/test/must"
)

// write replaces the file and sets its time, since the file system's clock may be coarse.
func write(t *testing.T, path string, body []byte, moment time.Time) {
	t.Helper()
	must.Do(t, os.WriteFile(path, body, 0o600))
	must.Do(t, os.Chtimes(path, moment, moment))
}

func TestChangedKeyFileIsReadAgain(t *testing.T) {
	c, k := newClock(), testKeys()
	path := filepath.Join(t.TempDir(), "keys.json")
	write(t, path, jwks(t, jwk("ed", "", "", k.ed.Public())), start)
	var out strings.Builder
	s := must.Get(authn.NewFileSource(authn.FileOptions{Path: path, Now: c.Now, Log: slog.New(slog.NewTextHandler(&out, nil))}))(t)
	a := authenticator(t, c, issuer(s))
	mustAccept(t, a, edToken(nil))

	// Removed: refused within a second.
	other := jwks(t, jwk("new", "", "", k.otherEd.Public()))
	write(t, path, other, start.Add(time.Second))
	mustAccept(t, a, edToken(nil))
	c.Advance(time.Second)
	mustRefuse(t, a, edToken(nil))

	// Malformed, cut, missing: the last good keys stay in use, and the log says so once for each.
	renewed := forge(`{"alg":"EdDSA","kid":"new"}`, claims().json(), "EdDSA", k.otherEd)
	for i, broken := range [][]byte{[]byte("{"), other[:len(other)-5], nil} {
		out.Reset()
		if broken == nil {
			must.Do(t, os.Remove(path))
		} else {
			write(t, path, broken, start.Add(time.Duration(2+i)*time.Second))
		}
		for range 3 {
			c.Advance(time.Second)
			mustAccept(t, a, renewed)
			mustRefuse(t, a, edToken(nil))
		}
		if n := strings.Count(out.String(), "last good keys"); n != 1 {
			t.Errorf("%d: reported %d times: %s", i, n, out.String())
		}
	}

	// Back with another key: an unknown kid is looked for at once.
	write(t, path, jwks(t, jwk("ed", "", "", k.ed.Public())), start.Add(time.Minute))
	mustAccept(t, a, edToken(nil))
	mustRefuse(t, a, renewed)

	// Empty: no key is valid any more, and the log says what that means.
	out.Reset()
	write(t, path, []byte(`{"keys":[]}`), start.Add(2*time.Minute))
	c.Advance(time.Second)
	mustRefuse(t, a, edToken(nil))
	if !strings.Contains(out.String(), "the tokens of its issuer are refused") {
		t.Errorf("reported %s", out.String())
	}
}

// TestKeyFileIsReadOnceItCanBe guarantees that the source retries a changed file after a failed read. The file need not
// change again. A removed key is refused from then on. The log reports the failure once.
func TestKeyFileIsReadOnceItCanBe(t *testing.T) {
	if !child.Runs(t) {
		return
	}
	c, k := newClock(), testKeys()
	path := filepath.Join(t.TempDir(), "keys.json")
	write(t, path, jwks(t, jwk("ed", "", "", k.ed.Public())), start)
	var out strings.Builder
	s := must.Get(authn.NewFileSource(authn.FileOptions{Path: path, Now: c.Now, Log: slog.New(slog.NewTextHandler(&out, nil))}))(t)
	a := authenticator(t, c, issuer(s))
	write(t, path, jwks(t, jwk("new", "", "", k.otherEd.Public())), start.Add(time.Second))

	child.LimitOpenFiles(t, 0)
	for range 3 {
		c.Advance(time.Second)
		mustAccept(t, a, edToken(nil))
	}
	child.LimitOpenFiles(t, 100)
	if n := strings.Count(out.String(), "too many open files"); n != 1 {
		t.Errorf("reported %d times: %s", n, out.String())
	}
	c.Advance(time.Second)
	mustRefuse(t, a, edToken(nil))
}

func TestBadKeyFileIsRefusedAtConstruction(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "keys.json")
	for name, body := range map[string]string{
		"symmetric": string(jwks(t, jwk("ed", "", "", testKeys().ed.Public()), jwk("oct", "", "", []byte("bytes")))),
		"empty set": `{"keys":[]}`,
		"empty":     ``,
	} {
		write(t, path, []byte(body), start)
		if _, err := authn.NewFileSource(authn.FileOptions{Path: path}); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, path := range []string{"", dir, filepath.Join(dir, "absent.json")} {
		if _, err := authn.NewFileSource(authn.FileOptions{Path: path}); err == nil {
			t.Errorf("%q is accepted", path)
		}
	}
}
