package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestIssuerOfAFile guarantees that the file's tokens are accepted, a faulty one is 401, and a
// rotation of the file is taken over. The data folder's own key signs no more.
func TestIssuerOfAFile(t *testing.T) {
	t.Parallel()
	idp := harness.NewIdentityProvider(t, "https://idp.example", "one")
	path := filepath.Join(t.TempDir(), "jwks.json")
	harness.WriteFile(t, path, idp.Jwks())
	g := harness.OutsideGateway(t, "--jwks-file", path, "--jwt-issuer", idp.Issuer, "--jwt-audience", idp.Audience)
	if status := g.Status(t, idp.Token(t, harness.OutsideAdmin)); status != 200 {
		t.Fatalf("its token: %d", status)
	}
	scoped := func(c jwt.MapClaims) { c["scope"] = "authz:check" }
	r := harness.Call(t, "POST", g.URL+"/api/v1/authorize/x", idp.Token(t, "service-proxy", scoped), "",
		"X-User-ID", harness.OutsideAdmin, "X-Account-ID", harness.OutsideAccount, "X-Action", "project:x:read")
	if r.Status != 200 || r.Body["allowed"] != true {
		t.Errorf("a service's token: %d %s", r.Status, r.Raw)
	}
	signed := g.Token(t, "--user", harness.OutsideAdmin) // made without the setting, as a thief of the folder would
	for name, token := range map[string]string{
		"wrong audience":  idp.Token(t, harness.OutsideAdmin, func(c jwt.MapClaims) { c["aud"] = "another" }),
		"no audience":     idp.Token(t, harness.OutsideAdmin, func(c jwt.MapClaims) { delete(c, "aud") }),
		"wrong issuer":    idp.Token(t, harness.OutsideAdmin, func(c jwt.MapClaims) { c["iss"] = "https://idp.example/" }),
		"expired":         idp.Token(t, harness.OutsideAdmin, func(c jwt.MapClaims) { c["exp"] = time.Now().Add(-time.Minute).Unix() }),
		"no end":          idp.Token(t, harness.OutsideAdmin, func(c jwt.MapClaims) { delete(c, "exp") }),
		"not yet":         idp.Token(t, harness.OutsideAdmin, func(c jwt.MapClaims) { c["nbf"] = time.Now().Add(time.Hour).Unix() }),
		"unknown subject": idp.Token(t, "user-ghost-v1"),
		"another's key":   harness.NewIdentityProvider(t, idp.Issuer, "one").Token(t, harness.OutsideAdmin),
		"the data folder": signed,
	} {
		if status := g.Status(t, token); status != 401 {
			t.Errorf("%s: %d", name, status)
		}
	}
	if r := harness.Call(t, "GET", g.URL+"/.well-known/jwks.json", "", ""); r.Status != 404 {
		t.Errorf("jwks.get of a gateway that does not sign: %d %s", r.Status, r.Raw)
	}
	next := harness.NewIdentityProvider(t, idp.Issuer, "two")
	harness.WriteFile(t, path+".new", next.Jwks())
	must.Do(t, os.Rename(path+".new", path))
	for _, p := range g.Each() {
		harness.SoonWithin(t, time.Minute, "the new key is accepted", func() bool { return p.Status(t, next.Token(t, harness.OutsideAdmin)) == 200 })
	}
	if status := g.Status(t, idp.Token(t, harness.OutsideAdmin)); status != 401 {
		t.Errorf("a key that was taken out of the file: %d", status)
	}
	harness.WriteFile(t, path, "{ broken")
	if status := g.Status(t, next.Token(t, harness.OutsideAdmin)); status != 200 {
		t.Errorf("a broken file took the last good keys away: %d", status)
	}
}

// TestIssuersOfAConfigFile: two at once, one by URL, each within what it is trusted for.
func TestIssuersOfAConfigFile(t *testing.T) {
	t.Parallel()
	people, robots := harness.NewIdentityProvider(t, "https://people.example", "k"), harness.NewIdentityProvider(t, "https://robots.example", "k")
	published := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(people.Jwks())) }))
	t.Cleanup(published.Close)
	config := harness.TempFile(t, "c.yaml", fmt.Sprintf(`
deny-status: 403
issuers:
  - {issuer: %q, audience: gateway, jwks_url: %q, subjects: external_id}
  - {issuer: %q, audience: gateway, jwks_file: %q, subjects: partner_id, services: {allowed: true, scopes: ["authz:check"]}}
`, people.Issuer, published.URL+"/keys", robots.Issuer, harness.TempFile(t, "jwks.json", robots.Jwks())))
	g := harness.OutsideGateway(t, "--config", config)
	if status := g.Status(t, people.Token(t, harness.OutsideAdmin)); status != 200 {
		t.Errorf("a person of the issuer by URL: %d", status)
	}
	scope := func(scope string) func(jwt.MapClaims) { return func(c jwt.MapClaims) { c["scope"] = scope } }
	ask := func(token string) int {
		return harness.Call(t, "POST", g.URL+"/api/v1/authorize/x", token, "", "X-User-ID", harness.OutsideAdmin, "X-Account-ID", harness.OutsideAccount, "X-Action", "project:x:read").Status
	}
	if status := ask(robots.Token(t, "service-a", scope("authz:check"))); status != 200 {
		t.Errorf("a service of the other: %d", status)
	}
	body := `{"name":"N","admin":{"email":"a@b.example"}}`
	if r := harness.Call(t, "POST", g.URL+"/api/v1/accounts", robots.Token(t, "service-a", scope("authz:check platform:admin")), body); r.Status == 201 {
		t.Errorf("a scope beyond what the issuer may give: %d %s", r.Status, r.Raw)
	}
	for name, token := range map[string]string{
		"a service of the people's issuer": people.Token(t, "service-a", scope("authz:check")),
		"a person of the robots' issuer":   robots.Token(t, harness.OutsideAdmin),
		"one issuer's key for the other":   (&harness.IdentityProvider{Issuer: people.Issuer, Audience: "gateway", Kid: "k", Key: robots.Key}).Token(t, harness.OutsideAdmin),
	} {
		if status := g.Status(t, token); status != 401 {
			t.Errorf("%s: %d", name, status)
		}
	}
	if o := harness.Command(t, nil, "token", "--data-dir", g.DataDir, "--config", config, "--user", harness.OutsideAdmin); o.Code != 2 || !strings.Contains(o.Stderr, "outside issuer") {
		t.Errorf("token beside outside issuers: %+v", o)
	}
}
