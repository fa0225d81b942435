package consistency_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/portcullis-authz/portcullis/test/must"
)

// Names of the issuer whom the replicas trust.
const (
	issuerName = "https://issuer.example"
	audience   = "consistency"
)

// issuer signs tokens for users and services.
type issuer struct {
	key  ed25519.PrivateKey
	jwks string
}

func newIssuer(t testing.TB, dir string) *issuer {
	t.Helper()
	public, private := must.Two(ed25519.GenerateKey(rand.Reader))(t)
	i := &issuer{key: private, jwks: filepath.Join(dir, "jwks.json")}
	set := fmt.Sprintf(`{"keys":[{"kty":"OKP","crv":"Ed25519","alg":"EdDSA","use":"sig","kid":"1","x":%q}]}`, base64.RawURLEncoding.EncodeToString(public))
	must.Do(t, os.WriteFile(i.jwks, []byte(set), 0o600))
	return i
}

// sign returns a token. Only services have a scope.
func (i *issuer) sign(t testing.TB, subject, scope string) string {
	t.Helper()
	claims := jwt.MapClaims{"iss": issuerName, "aud": audience, "sub": subject, "exp": time.Now().Add(2 * time.Hour).Unix()}
	if scope != "" {
		claims["scope"] = scope
	}
	token := jwt.NewWithClaims(jwt.SigningMethodEdDSA, claims)
	token.Header["kid"] = "1"
	return must.Get(token.SignedString(i.key))(t)
}
