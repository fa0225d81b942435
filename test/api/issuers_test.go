package api_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// identityProvider signs tokens with a key that was made for the test.
type identityProvider struct {
	issuer, audience, kid string
	key                   ed25519.PrivateKey
}

func newIdentityProvider(t testing.TB, issuer, kid string) *identityProvider {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &identityProvider{issuer: issuer, audience: "gateway", kid: kid, key: key}
}

// jwks is the set of its one public key.
func (p *identityProvider) jwks() string {
	x := base64.RawURLEncoding.EncodeToString(p.key.Public().(ed25519.PublicKey))
	return fmt.Sprintf(`{"keys":[{"kty":"OKP","crv":"Ed25519","alg":"EdDSA","use":"sig","kid":%q,"x":%q}]}`, p.kid, x)
}

// token is signed for a subject; change may spoil it.
func (p *identityProvider) token(t testing.TB, subject string, change ...func(jwt.MapClaims)) string {
	t.Helper()
	now := time.Now()
	claims := jwt.MapClaims{"iss": p.issuer, "aud": p.audience, "sub": subject, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix()}
	for _, f := range change {
		f(claims)
	}
	token := jwt.NewWithClaims(jwt.SigningMethodEdDSA, claims)
	token.Header["kid"] = p.kid
	signed, err := token.SignedString(p.key)
	if err != nil {
		t.Fatal(err)
	}
	theSecrets.token(signed)
	return signed
}

const outsideAccount, outsideAdmin = "acct-outside-v1", "user-outside-v1"

// outsideGateway is a gateway that trusts other issuers, with an account and its admin.
func outsideGateway(t testing.TB, args ...string) *gatewayProcess {
	t.Helper()
	dir := t.TempDir()
	seed(t, dir, outsideAccount, "proj-outside-v1", member{outsideAdmin, []string{"account_admin"}})
	return startGatewayIn(t, dir, args...)
}

// status is that of a read of the account with the token.
func (g *gatewayProcess) status(t testing.TB, token string) int {
	t.Helper()
	return call(t, "GET", g.URL+"/api/v1/accounts/"+outsideAccount+"/roles", token, "").Status
}

// TestIssuerOfAFile: its tokens are accepted, whatever is wrong with one is 401, a
// rotation of the file is taken over, and the data folder's own key signs no more.
func TestIssuerOfAFile(t *testing.T) {
	t.Parallel()
	idp := newIdentityProvider(t, "https://idp.example", "one")
	path := filepath.Join(t.TempDir(), "jwks.json")
	write(t, path, idp.jwks())
	g := outsideGateway(t, "--jwks-file", path, "--jwt-issuer", idp.issuer, "--jwt-audience", idp.audience)
	if status := g.status(t, idp.token(t, outsideAdmin)); status != 200 {
		t.Fatalf("its token: %d", status)
	}
	scoped := func(c jwt.MapClaims) { c["scope"] = "authz:check" }
	r := call(t, "POST", g.URL+"/api/v1/authorize/x", idp.token(t, "service-proxy", scoped), "",
		"X-User-ID", outsideAdmin, "X-Account-ID", outsideAccount, "X-Action", "project:x:read")
	if r.Status != 200 || r.Body["allowed"] != true {
		t.Errorf("a service's token: %d %s", r.Status, r.Raw)
	}
	own := g.token(t, "--user", outsideAdmin) // made without the setting, as a thief of the folder would
	for name, token := range map[string]string{
		"wrong audience":  idp.token(t, outsideAdmin, func(c jwt.MapClaims) { c["aud"] = "another" }),
		"no audience":     idp.token(t, outsideAdmin, func(c jwt.MapClaims) { delete(c, "aud") }),
		"wrong issuer":    idp.token(t, outsideAdmin, func(c jwt.MapClaims) { c["iss"] = "https://idp.example/" }),
		"expired":         idp.token(t, outsideAdmin, func(c jwt.MapClaims) { c["exp"] = time.Now().Add(-time.Minute).Unix() }),
		"no end":          idp.token(t, outsideAdmin, func(c jwt.MapClaims) { delete(c, "exp") }),
		"not yet":         idp.token(t, outsideAdmin, func(c jwt.MapClaims) { c["nbf"] = time.Now().Add(time.Hour).Unix() }),
		"unknown subject": idp.token(t, "user-ghost-v1"),
		"another's key":   newIdentityProvider(t, idp.issuer, "one").token(t, outsideAdmin),
		"the data folder": own,
	} {
		if status := g.status(t, token); status != 401 {
			t.Errorf("%s: %d", name, status)
		}
	}
	if r := call(t, "GET", g.URL+"/.well-known/jwks.json", "", ""); r.Status != 404 {
		t.Errorf("jwks.get of a gateway that does not sign: %d %s", r.Status, r.Raw)
	}
	next := newIdentityProvider(t, idp.issuer, "two")
	write(t, path+".new", next.jwks())
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	for _, p := range g.each() {
		eventually(t, time.Minute, "the new key is accepted", func() bool { return p.status(t, next.token(t, outsideAdmin)) == 200 })
	}
	if status := g.status(t, idp.token(t, outsideAdmin)); status != 401 {
		t.Errorf("a key that was taken out of the file: %d", status)
	}
	write(t, path, "{ broken")
	if status := g.status(t, next.token(t, outsideAdmin)); status != 200 {
		t.Errorf("a broken file took the last good keys away: %d", status)
	}
}

// TestIssuersOfAConfigFile: two at once, one by URL, each within what it is trusted for.
func TestIssuersOfAConfigFile(t *testing.T) {
	t.Parallel()
	people, robots := newIdentityProvider(t, "https://people.example", "k"), newIdentityProvider(t, "https://robots.example", "k")
	published := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(people.jwks())) }))
	t.Cleanup(published.Close)
	config := file(t, "c.yaml", fmt.Sprintf(`
deny-status: 403
issuers:
  - {issuer: %q, audience: gateway, jwks_url: %q, subjects: external_id}
  - {issuer: %q, audience: gateway, jwks_file: %q, subjects: partner_id, services: {allowed: true, scopes: ["authz:check"]}}
`, people.issuer, published.URL+"/keys", robots.issuer, file(t, "jwks.json", robots.jwks())))
	g := outsideGateway(t, "--config", config)
	if status := g.status(t, people.token(t, outsideAdmin)); status != 200 {
		t.Errorf("a person of the issuer by URL: %d", status)
	}
	scope := func(scope string) func(jwt.MapClaims) { return func(c jwt.MapClaims) { c["scope"] = scope } }
	ask := func(token string) int {
		return call(t, "POST", g.URL+"/api/v1/authorize/x", token, "", "X-User-ID", outsideAdmin, "X-Account-ID", outsideAccount, "X-Action", "project:x:read").Status
	}
	if status := ask(robots.token(t, "service-a", scope("authz:check"))); status != 200 {
		t.Errorf("a service of the other: %d", status)
	}
	body := `{"name":"N","admin":{"email":"a@b.example"}}`
	if r := call(t, "POST", g.URL+"/api/v1/accounts", robots.token(t, "service-a", scope("authz:check platform:admin")), body); r.Status == 201 {
		t.Errorf("a scope beyond what the issuer may give: %d %s", r.Status, r.Raw)
	}
	for name, token := range map[string]string{
		"a service of the people's issuer": people.token(t, "service-a", scope("authz:check")),
		"a person of the robots' issuer":   robots.token(t, outsideAdmin),
		"one issuer's key for the other":   (&identityProvider{people.issuer, "gateway", "k", robots.key}).token(t, outsideAdmin),
	} {
		if status := g.status(t, token); status != 401 {
			t.Errorf("%s: %d", name, status)
		}
	}
	if o := run(t, nil, "token", "--data-dir", g.DataDir, "--config", config, "--user", outsideAdmin); o.Code != 2 || !strings.Contains(o.Stderr, "outside issuer") {
		t.Errorf("token beside outside issuers: %+v", o)
	}
}
