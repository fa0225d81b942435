package api_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestPublicKeysAreShown: to anybody, and nothing but public parts.
func TestPublicKeysAreShown(t *testing.T) {
	t.Parallel()
	g := harness.Shared(t)
	for _, base := range []string{g.URL, g.UsersURL} {
		r := harness.Call(t, "GET", base+"/.well-known/jwks.json", "", "")
		harness.WantFields(t, "the set", r.Body, "keys")
		keys, _ := r.Body["keys"].([]any)
		if r.Status != 200 || len(keys) != 1 {
			t.Fatalf("%d %s", r.Status, r.Raw)
		}
		harness.WantFields(t, "a key", keys[0], "kty", "crv", "x", "kid", "alg", "use")
		if harness.At(keys[0], "kty") != "OKP" || harness.At(keys[0], "crv") != "Ed25519" || harness.At(keys[0], "alg") != "EdDSA" || harness.At(keys[0], "use") != "sig" {
			t.Errorf("%s", r.Raw)
		}
	}
	master := must.Get(os.ReadFile(filepath.Join(g.DataDir, "master.key")))(t)
	r := harness.Call(t, "GET", g.URL+"/.well-known/jwks.json", "x.y.z", "") // a public route looks at no credential
	if r.Status != 200 || strings.Contains(string(r.Raw), strings.TrimSpace(string(master))) {
		t.Errorf("%d", r.Status)
	}
}
