package api_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// provider is an identity provider with a key of its own.
type provider struct {
	name string
	key  ed25519.PrivateKey
	jwks string
}

func newProvider(t testing.TB, name string) *provider {
	t.Helper()
	public, private := must.Two(ed25519.GenerateKey(rand.Reader))(t)
	return &provider{name: name, key: private, jwks: harness.TempFile(t, "jwks.json", fmt.Sprintf(
		`{"keys":[{"kty":"OKP","crv":"Ed25519","alg":"EdDSA","use":"sig","kid":"1","x":%q}]}`, base64.RawURLEncoding.EncodeToString(public)))}
}

// sign makes a token of the subject, with more claims as name, value pairs.
func (p *provider) sign(t testing.TB, subject string, more ...any) string {
	t.Helper()
	claims := jwt.MapClaims{"iss": p.name, "aud": "gate", "sub": subject, "exp": time.Now().Add(time.Hour).Unix()}
	for i := 0; i+1 < len(more); i += 2 {
		claims[more[i].(string)] = more[i+1]
	}
	token := jwt.NewWithClaims(jwt.SigningMethodEdDSA, claims)
	token.Header["kid"] = "1"
	return must.Get(token.SignedString(p.key))(t)
}

// signIn is a gateway with two issuers: staff names users by external id, and services;
// people name themselves by the provider's subject.
type signIn struct {
	*harness.Gateway
	staff, people *provider
	admin         string
}

const (
	signInAccount = "acct-signin-v1"
	signInAdmin   = "user-signin-v1"
)

// newSignIn starts it, with more users in its store than the admin.
func newSignIn(t testing.TB, more ...resources.User) *signIn {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	harness.Seed(t, dir, signInAccount, "proj-signin-v1", harness.Member{ID: signInAdmin, Roles: []string{"account_admin"}})
	harness.SeedUsers(t, dir, more...)
	s := &signIn{staff: newProvider(t, "https://staff.example"), people: newProvider(t, "https://people.example")}
	config := harness.TempFile(t, "c.yaml", fmt.Sprintf(`issuers:
  - {issuer: %q, audience: gate, jwks_file: %q, subjects: external_id, services: {allowed: true, scopes: ["users:sync", "platform:admin"]}}
  - {issuer: %q, audience: gate, jwks_file: %q, subjects: partner_id}
`, s.staff.name, s.staff.jwks, s.people.name, s.people.jwks))
	s.Gateway = harness.StartIn(t, dir, "--config", config, "--identity-provider", "PEOPLE")
	s.admin = s.staff.sign(t, signInAdmin)
	return s
}

func (s *signIn) list(t testing.TB, token string) harness.Reply {
	t.Helper()
	return harness.Call(t, "GET", s.URL+"/api/v1/accounts/"+signInAccount+"/users", token, "")
}

// invite is user.invite; it gives the new user's external id.
func (s *signIn) invite(t testing.TB, email string) string {
	t.Helper()
	r := harness.Call(t, "POST", s.URL+"/api/v1/accounts/"+signInAccount+"/users/invite", s.admin, fmt.Sprintf(`{"email":%q}`, email))
	if r.Status != 200 {
		t.Fatalf("user.invite: %d %s", r.Status, r.Raw)
	}
	id, _ := harness.At(s.record(t, "email="+email), "external_id").(string)
	return id
}

// record is the user of user.find's query.
func (s *signIn) record(t testing.TB, query string) any {
	t.Helper()
	r := harness.Call(t, "GET", s.URL+"/api/v1/users?"+query, s.staff.sign(t, "service-sync", "scope", "users:sync"), "")
	return harness.At(r.Body, "users", 0)
}

// TestFirstSignInTakesTheInvitation guarantees it with a verified e-mail only, and for one subject
// for good. This subject needs no e-mail from then on, and nobody else with the address gets in.
func TestFirstSignInTakesTheInvitation(t *testing.T) {
	t.Parallel()
	s := newSignIn(t)
	const email = "guest@signin.example"
	id := s.invite(t, email)
	for name, token := range map[string]string{
		"no e-mail":                s.people.sign(t, "idp|1"),
		"not verified":             s.people.sign(t, "idp|1", "email", email),
		"verified false":           s.people.sign(t, "idp|1", "email", email, "email_verified", false),
		"verified as text":         s.people.sign(t, "idp|1", "email", email, "email_verified", "true"),
		"another address":          s.people.sign(t, "idp|1", "email", "x"+email, "email_verified", true),
		"an issuer of external id": s.staff.sign(t, "idp|1", "email", email, "email_verified", true),
		"the invited one's id":     s.staff.sign(t, id),
		"an active one's id":       s.people.sign(t, signInAdmin),
		"an active one's address":  s.people.sign(t, "idp|1", "email", signInAdmin+"@seed.example", "email_verified", true),
	} {
		wantUserRefusal(t, name, s.list(t, token), 401, "AUTH_002")
	}
	if status := harness.At(s.record(t, "email="+email), "status"); status != "INVITED" {
		t.Fatalf("after refused tokens: %v", status)
	}
	if r := s.list(t, s.people.sign(t, "idp|1", "email", "GUEST@signin.example", "email_verified", true)); r.Status != 200 {
		t.Fatalf("the first sign-in: %d %s", r.Status, r.Raw)
	}
	record := s.record(t, "external_id="+id)
	if harness.At(record, "status") != "ACTIVE" || harness.At(record, "authentication_partner_id") != "idp|1" || harness.At(record, "authentication_partner") != "PEOPLE" || harness.At(record, "is_verified") != true {
		t.Errorf("after the first sign-in: %v", record)
	}
	for name, token := range map[string]string{"by the subject alone": s.people.sign(t, "idp|1"), "by the external id": s.staff.sign(t, id)} {
		if r := s.list(t, token); r.Status != 200 {
			t.Errorf("from then on, %s: %d %s", name, r.Status, r.Raw)
		}
	}
	wantUserRefusal(t, "another subject", s.list(t, s.people.sign(t, "idp|2", "email", email, "email_verified", true)), 401, "AUTH_002")
}
