package assertion_test

import (
	"crypto/rand"
	"encoding/base64"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/gateway/peer/assertion"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// scene is a set of keys with a clock that the test moves.
type scene struct {
	t    *testing.T
	now  time.Time
	keys *assertion.Keys
}

func newScene(t *testing.T) *scene {
	s := &scene{t: t, now: time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)}
	s.keys = s.keysOf(masterKey(t, 1))
	return s
}

func (s *scene) keysOf(master resources.MasterKey) *assertion.Keys {
	return must.Get(assertion.NewKeys(master, func() time.Time { return s.now }))(s.t)
}

// lines returns n random lines of a master key file.
func lines(t *testing.T, n int) []string {
	t.Helper()
	var out []string
	for range n {
		raw := make([]byte, 32)
		must.Get(rand.Read(raw))(t)
		out = append(out, base64.StdEncoding.EncodeToString(raw))
	}
	return out
}

func read(t *testing.T, lines ...string) resources.MasterKey {
	t.Helper()
	return must.Get(resources.ReadMasterKey(strings.NewReader(strings.Join(lines, "\n"))))(t)
}

func masterKey(t *testing.T, n int) resources.MasterKey { return read(t, lines(t, n)...) }

func (s *scene) sign(statement assertion.Statement) string {
	s.t.Helper()
	return must.Get(s.keys.Sign(statement))(s.t)
}

// statement returns a statement with every field set.
func statement() assertion.Statement {
	return assertion.Statement{
		Upstream: "firewall", RequestID: "req-1", Method: "POST", Target: "/api/v1/x?a=b", IdempotencyKey: "k-1", Body: []byte(`{"a":1}`),
		Account: "acct-a-v1", Action: "project:security_group:create",
		Principal: resources.Principal{
			Kind: resources.PrincipalUser, ID: "user-a-v1", UUID: "uuid-a", AccountID: "acct-a-v1", Scopes: []string{"x"},
			Credential: resources.CredentialKey, KeyScopes: []string{"read"}, KeyID: "apikey-a-v1",
			Client: &resources.Client{Issuer: "https://issuer.test", ID: "bot", Actors: []string{"bot", "ide"}, Own: true},
		},
	}
}

// seen returns the same request as the upstream receives it.
func seen() assertion.Statement {
	s := statement()
	return assertion.Statement{Upstream: s.Upstream, RequestID: s.RequestID, Method: s.Method, Target: s.Target, IdempotencyKey: s.IdempotencyKey, Body: s.Body}
}

func TestStatementArrives(t *testing.T) {
	s := newScene(t)
	got, err := s.keys.Verify(s.sign(statement()), seen())
	if err != nil || !reflect.DeepEqual(got, statement()) {
		t.Errorf("%+v, %v", got, err)
	}
	if reflect.TypeFor[resources.Principal]().NumField() != 9 {
		t.Error("a principal has another number of fields than an assertion")
	}
}

func TestAssertionIsForOneRequest(t *testing.T) {
	s := newScene(t)
	token := s.sign(statement())
	for name, change := range map[string]func(*assertion.Statement){
		"another upstream":   func(r *assertion.Statement) { r.Upstream = "clusters" },
		"no upstream":        func(r *assertion.Statement) { r.Upstream = "" },
		"another request id": func(r *assertion.Statement) { r.RequestID = "req-2" },
		"another method":     func(r *assertion.Statement) { r.Method = "PUT" },
		"another path":       func(r *assertion.Statement) { r.Target = "/api/v1/y?a=b" },
		"another query":      func(r *assertion.Statement) { r.Target = "/api/v1/x?a=c" },
		"a query more":       func(r *assertion.Statement) { r.Target = "/api/v1/x?a=b&" },
		"no query":           func(r *assertion.Statement) { r.Target = "/api/v1/x" },
		"another key":        func(r *assertion.Statement) { r.IdempotencyKey = "k-2" },
		"no key":             func(r *assertion.Statement) { r.IdempotencyKey = "" },
		"another body":       func(r *assertion.Statement) { r.Body = []byte(`{"a":2}`) },
		"no body":            func(r *assertion.Statement) { r.Body = nil },
	} {
		t.Run(name, func(t *testing.T) {
			r := seen()
			change(&r)
			if got, err := s.keys.Verify(token, r); err == nil || !reflect.DeepEqual(got, assertion.Statement{}) {
				t.Errorf("accepted: %+v", got)
			}
		})
	}
}

// TestScopesOfAClientStayBehind guarantees it, and that the caller's client stays as it is.
func TestScopesOfAClientStayBehind(t *testing.T) {
	s, sent := newScene(t), statement()
	sent.Principal.Client = &resources.Client{ID: "bot", Scopes: []string{"mcp:read"}}
	got, err := s.keys.Verify(s.sign(sent), seen())
	if err != nil || got.Principal.Client.ID != "bot" || got.Principal.Client.Scopes != nil || len(sent.Principal.Client.Scopes) != 1 {
		t.Errorf("%+v, %v", got.Principal.Client, err)
	}
}

// TestTargetMayHaveAnyBytes guarantees that a target with invalid UTF-8 differs from one with its
// replacement. A long target makes no long assertion.
func TestTargetMayHaveAnyBytes(t *testing.T) {
	s := newScene(t)
	for _, target := range []string{"/x?\xff", "/x?" + strings.Repeat("&", 20_000), "/x?\ufffd", "/x?<>\u2028"} {
		said, r := statement(), seen()
		said.Target, r.Target = target, target
		token := s.sign(said)
		if _, err := s.keys.Verify(token, r); err != nil || len(token) > 2000 {
			t.Errorf("%.10q: %v, %d bytes", target, err, len(token))
		}
		r.Target = strings.ToValidUTF8(target, "\ufffd")
		if _, err := s.keys.Verify(token, r); err == nil && r.Target != target {
			t.Errorf("%.10q: another target was accepted", target)
		}
	}
}

func TestAssertionExpires(t *testing.T) {
	s := newScene(t)
	token, start := s.sign(statement()), s.now
	for after, want := range map[time.Duration]bool{
		-6 * time.Second: false, -4 * time.Second: true, 0: true, 30 * time.Second: true, 34 * time.Second: true,
		36 * time.Second: false, time.Hour: false,
	} {
		s.now = start.Add(after)
		if _, err := s.keys.Verify(token, seen()); (err == nil) != want {
			t.Errorf("%s later: %v", after, err)
		}
	}
}

func TestRotatedMasterKeyIsStillAccepted(t *testing.T) {
	s := newScene(t)
	two := lines(t, 2)
	s.keys = s.keysOf(read(t, two[0]))
	old := s.sign(statement())
	rotated := s.keysOf(read(t, two[1], two[0]))
	if _, err := rotated.Verify(old, seen()); err != nil {
		t.Error(err)
	}
	if n := strings.Count(string(rotated.JWKS()), `"kid"`); n != 2 {
		t.Errorf("%d keys in the JWK set", n)
	}
	if _, err := s.keysOf(read(t, two[1])).Verify(old, seen()); err == nil {
		t.Error("a removed key was accepted")
	}
}

func TestOtherTokensAreRefused(t *testing.T) {
	s := newScene(t)
	master := masterKey(t, 1)
	s.keys = s.keysOf(master)
	good := s.sign(statement())
	issuer := must.Get(authn.NewSigner(master))(t)
	issuer.Now = func() time.Time { return s.now }
	access := must.Get(issuer.Sign(authn.TokenRequest{Subject: "user-a-v1", TTL: time.Minute}))(t)
	parts := strings.Split(good, ".")
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"portcullis-assertion+jwt"}`))
	mac := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"iss": assertion.Issuer, "aud": "firewall"})
	hmac := must.Get(mac.SignedString(s.keys.JWKS()))(t)
	stranger := newScene(t)
	for name, token := range map[string]string{
		"nothing": "", "no token": "x", "an access token": access, "no signature": parts[0] + "." + parts[1] + ".",
		"alg none": none + "." + parts[1] + ".", "an HMAC with the public key": hmac, "too long": good + strings.Repeat("A", 16<<10),
		"another installation's": stranger.sign(statement()), "with a line break": good + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := s.keys.Verify(token, seen()); err == nil {
				t.Errorf("accepted: %+v", got)
			}
		})
	}
	if _, err := assertion.NewKeys(resources.MasterKey{}, time.Now); err == nil {
		t.Error("NewKeys accepted an empty master key")
	}
}

// TestAnAssertionWithoutABodyIsForNoUpstream: not even for a request that has none.
func TestAnAssertionWithoutABodyIsForNoUpstream(t *testing.T) {
	s := newScene(t)
	for _, body := range [][]byte{nil, {}, []byte("x")} {
		said, saw := statement(), seen()
		said.Body, saw.Body, said.BodyUnknown = body, body, true
		if _, err := s.keys.Verify(s.sign(said), saw); err == nil {
			t.Errorf("taken for the body %q", body)
		}
	}
}
