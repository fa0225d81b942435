package harness

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/portcullis-authz/portcullis/test/must"
)

// IdentityProvider signs tokens with a key that was made for the test.
type IdentityProvider struct {
	Issuer, Audience, Kid string
	Key                   ed25519.PrivateKey
}

// NewIdentityProvider makes an identity provider with a key of its own.
func NewIdentityProvider(t testing.TB, issuer, kid string) *IdentityProvider {
	t.Helper()
	_, key := must.Two(ed25519.GenerateKey(rand.Reader))(t)
	return &IdentityProvider{Issuer: issuer, Audience: "gateway", Kid: kid, Key: key}
}

// Jwks is the set of its one public key.
func (p *IdentityProvider) Jwks() string {
	x := base64.RawURLEncoding.EncodeToString(p.Key.Public().(ed25519.PublicKey))
	return fmt.Sprintf(`{"keys":[{"kty":"OKP","crv":"Ed25519","alg":"EdDSA","use":"sig","kid":%q,"x":%q}]}`, p.Kid, x)
}

// Token is signed for a subject; change may spoil it.
func (p *IdentityProvider) Token(t testing.TB, subject string, change ...func(jwt.MapClaims)) string {
	t.Helper()
	now := time.Now()
	claims := jwt.MapClaims{"iss": p.Issuer, "aud": p.Audience, "sub": subject, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix()}
	for _, f := range change {
		f(claims)
	}
	token := jwt.NewWithClaims(jwt.SigningMethodEdDSA, claims)
	token.Header["kid"] = p.Kid
	signed := must.Get(token.SignedString(p.Key))(t)
	theSecrets.Token(signed)
	return signed
}

// The account in an OutsideGateway and its admin.
const (
	OutsideAccount = "acct-outside-v1"
	OutsideAdmin   = "user-outside-v1"
)

// OutsideGateway is a gateway that trusts other issuers, with an account and its admin.
func OutsideGateway(t testing.TB, args ...string) *Gateway {
	t.Helper()
	dir := t.TempDir()
	Seed(t, dir, OutsideAccount, "proj-outside-v1", Member{OutsideAdmin, []string{"account_admin"}})
	return StartIn(t, dir, args...)
}

// Status is that of a read of the account with the token.
func (g *Gateway) Status(t testing.TB, token string) int {
	t.Helper()
	return Call(t, "GET", g.URL+"/api/v1/accounts/"+OutsideAccount+"/roles", token, "").Status
}
