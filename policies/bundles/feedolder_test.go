package bundles_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/bundle"

	"github.com/portcullis-authz/portcullis/policies/bundles"
	"github.com/portcullis-authz/portcullis/test/must"
)

// signer returns what signs a bundle of a revision, with further data, and the key of its signatures.
func signer(t *testing.T) (sign func(revision string, data ...map[string]any) []byte, key *bundles.Key) {
	t.Helper()
	pair := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	private := must.Get(x509.MarshalECPrivateKey(pair))(t)
	public, err := x509.MarshalPKIXPublicKey(&pair.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	if key, err = bundles.ReadKey(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})); err != nil {
		t.Fatal(err)
	}
	signing := bundle.NewSigningConfig(string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private})), "ES256", "")
	return func(revision string, data ...map[string]any) []byte {
		t.Helper()
		b := must.Get(bundle.NewReader(bytes.NewReader(unsigned(t, revision))).Read())(t)
		for _, members := range data {
			maps.Copy(b.Data, members)
		}
		must.Do(t, b.GenerateSignature(signing, "", false))
		var out bytes.Buffer
		must.Do(t, bundle.NewWriter(&out).Write(b))
		return out.Bytes()
	}, key
}

// TestAnOlderSignedBundleIsRefused, while the gateway runs and at its next start, and is taken where the operator says so.
func TestAnOlderSignedBundleIsRefused(t *testing.T) {
	sign, key := signer(t)
	s, dir, policy := newSource(t, sign("2")), t.TempDir(), newTaker()
	feed := func(allow bool) (*bundles.Feed, chan string) {
		f, results, _ := newFeed(t, s.URL, dir)
		f.Key, f.AllowOlder = key, allow
		return f, results
	}
	f, results := feed(false)
	if revision, refused, err := start(t, f); revision != "2" || refused != nil || err != nil {
		t.Fatal(revision, refused, err)
	}
	f.Started()
	go func() { _ = f.Follow(t.Context(), policy, nil) }()
	s.set(http.StatusOK, sign("3"), `"3"`)
	if got := next(results, bundles.ResultUnchanged); got != bundles.ResultTaken || <-policy.taken != "3" {
		t.Fatalf("%s of a newer one", got)
	}
	for _, revision := range []string{"2", "3f2a"} {
		s.set(http.StatusOK, sign(revision), `"`+revision+`"`)
		if got := next(results, bundles.ResultUnchanged); got != bundles.ResultRefused {
			t.Fatalf("%s of %s", got, revision)
		}
		if said := <-policy.refused; !strings.Contains(said, "--policy-bundle-allow-older") {
			t.Errorf("%s: %s", revision, said)
		}
	}
	s.set(http.StatusOK, sign("2"), `"again"`)
	again, _ := feed(false)
	if revision, refused, err := start(t, again); revision != "3" || refused == nil || !strings.Contains(refused.Error(), "is older than 3") || err != nil {
		t.Errorf("started with %q, refused %v: %v", revision, refused, err)
	}
	allowed, _ := feed(true)
	if revision, refused, err := start(t, allowed); revision != "2" || refused != nil || err != nil {
		t.Fatalf("started with %q where older ones are allowed, refused %v: %v", revision, refused, err)
	}
	allowed.Started()
	after, _ := feed(false)
	if revision, refused, err := start(t, after); revision != "2" || refused != nil || err != nil {
		t.Errorf("started with %q after an older one was taken, refused %v: %v", revision, refused, err)
	}
}

// TestABundleWithoutAnAgeIsToldOf in the log, once, where it is signed.
func TestABundleWithoutAnAgeIsToldOf(t *testing.T) {
	const said = "nothing tells an older policy bundle from this one"
	sign, key := signer(t)
	for name, c := range map[string]struct {
		raw  func(string) []byte
		key  *bundles.Key
		want int
	}{
		"signed":         {func(revision string) []byte { return sign(revision) }, key, 1},
		"signed, of age": {func(string) []byte { return sign("v1") }, key, 0},
		"not signed":     {func(revision string) []byte { return unsigned(t, revision) }, nil, 0},
	} {
		s, policy := newSource(t, c.raw("3f2a")), newTaker()
		f, results, log := newFeed(t, s.URL, t.TempDir())
		f.Key = c.key
		if _, _, err := start(t, f); err != nil {
			t.Fatal(err)
		}
		if c.want > 0 {
			go func() { _ = f.Follow(t.Context(), policy, nil) }()
			s.set(http.StatusOK, c.raw("9c1d"), `"2"`)
			if got := next(results, bundles.ResultUnchanged); got != bundles.ResultTaken {
				t.Errorf("%s: %s", name, got)
			}
		}
		if n := strings.Count(log.String(), said); n != c.want {
			t.Errorf("%s: told %d times: %s", name, n, log)
		}
	}
}

// TestTheAgeOfAKeptBundleOutlivesItsBase guarantees that a start by another program refuses an older bundle. The kept
// overlay need not fit the base of that program. The log tells of a kept bundle without a readable age.
func TestTheAgeOfAKeptBundleOutlivesItsBase(t *testing.T) {
	sign, key := signer(t)
	s, dir := newSource(t, sign("2")), t.TempDir()
	begin := func() (revision, log string, err error) {
		f, _, out := newFeed(t, s.URL, dir)
		f.Key = key
		revision, _, err = start(t, f)
		f.Started()
		return revision, out.String(), err
	}
	if _, _, err := begin(); err != nil {
		t.Fatal(err)
	}
	kept := must.Get(filepath.Glob(filepath.Join(dir, "*")))(t)[0]
	otherBase := map[string]any{"policy": map[string]any{"base": "embedded", "replaces": map[string]any{"authz/gone.rego": "0"}}}
	must.Do(t, os.WriteFile(kept, sign("3", otherBase), 0o600))
	if revision, _, err := begin(); err == nil || !strings.Contains(err.Error(), "2 is older than 3") || !strings.Contains(err.Error(), "authz/gone.rego") {
		t.Errorf("started with %q: %v", revision, err)
	}
	must.Do(t, os.WriteFile(kept, []byte("x"), 0o600))
	if revision, log, err := begin(); revision != "2" || err != nil || !strings.Contains(log, "nothing tells whether the next one is older") {
		t.Errorf("%q, %v, the log %s", revision, err, log)
	}
}
