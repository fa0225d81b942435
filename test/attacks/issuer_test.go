package attacks_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/must"
)

const (
	issuerName   = "https://issuer.example"
	audienceName = "gateway"
)

// issuer signs tokens with a key that was made for the test; the program knows its public part.
type issuer struct {
	key ed25519.PrivateKey
	kid string
}

func newIssuer(t testing.TB) *issuer {
	t.Helper()
	_, key := must.Two(ed25519.GenerateKey(rand.Reader))(t)
	return &issuer{key: key, kid: "one"}
}

// jwk is its public key as a member of a key set.
func (i *issuer) jwk() string {
	x := base64.RawURLEncoding.EncodeToString(i.key.Public().(ed25519.PublicKey))
	return fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","alg":"EdDSA","use":"sig","kid":%q,"x":%q}`, i.kid, x)
}

// claims are those of a good token of the subject.
func claimsOf(subject string) map[string]any {
	now := time.Now().Unix()
	return map[string]any{"iss": issuerName, "aud": audienceName, "sub": subject, "iat": now, "exp": now + 3600}
}

// token is a good token of the subject; scope is "" for a user.
func (i *issuer) token(subject, scope string) string {
	claims := claimsOf(subject)
	if scope != "" {
		claims["scope"] = scope
	}
	return i.sign(i.header(), encoded(claims))
}

func (i *issuer) header() string { return fmt.Sprintf(`{"alg":"EdDSA","typ":"JWT","kid":%q}`, i.kid) }

// sign makes a token of any two texts.
func (i *issuer) sign(header, payload string) string {
	signed := part(header) + "." + part(payload)
	return signed + "." + base64.RawURLEncoding.EncodeToString(ed25519.Sign(i.key, []byte(signed)))
}

func part(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

func encoded(v any) string {
	raw, _ := json.Marshal(v) // made of strings and numbers
	return string(raw)
}
