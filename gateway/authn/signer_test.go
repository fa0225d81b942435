package authn_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// masterKeys returns n random lines of a master key file.
func masterKeys(n int) []string {
	lines := make([]string, n)
	for i := range lines {
		raw := make([]byte, 32)
		_, _ = rand.Read(raw)
		lines[i] = base64.StdEncoding.EncodeToString(raw)
	}
	return lines
}

func signer(t testing.TB, c *clock, lines ...string) *authn.Signer {
	t.Helper()
	master := must.Get(resources.ReadMasterKey(strings.NewReader(strings.Join(lines, "\n"))))(t)
	s := must.Get(authn.NewSigner(master))(t)
	s.Now = c.Now
	return s
}

func mustSign(t testing.TB, s *authn.Signer, r authn.TokenRequest) string {
	t.Helper()
	return must.Get(s.Sign(r))(t)
}

func TestBuiltInIssuerSignsAndChecks(t *testing.T) {
	c := newClock()
	s := signer(t, c, masterKeys(1)...)
	a := authenticator(t, c, s.Issuer())
	user := mustSign(t, s, authn.TokenRequest{Subject: "user-alice-v1", TTL: time.Hour})
	service := mustSign(t, s, authn.TokenRequest{Subject: "service-x", Scopes: []string{"platform:admin", "authz:check"}, TTL: time.Hour})
	if p := mustAccept(t, a, user); p.Kind != resources.PrincipalUser || p.ID != "user-alice-v1" {
		t.Errorf("%+v", p)
	}
	through := mustSign(t, s, authn.TokenRequest{Subject: "user-alice-v1", Agent: "assistant", TTL: time.Hour})
	if agent, ok := mustAccept(t, a, through).Client.Agent(); !ok || agent.ClientID != "assistant" || agent.Issuer != "portcullis" {
		t.Errorf("%+v", agent)
	}
	if _, ok := mustAccept(t, a, user).Client.Agent(); ok {
		t.Error("the user's own token is an agent's")
	}
	if p := mustAccept(t, a, service); !p.HasScope("platform:admin") || !p.HasScope("authz:check") || p.HasScope("users:sync") {
		t.Errorf("%+v", p)
	}
	raw, _ := base64.RawURLEncoding.DecodeString(strings.Split(user, ".")[1])
	var members map[string]any
	must.Do(t, json.Unmarshal(raw, &members))
	if members["iss"] != "portcullis" || members["aud"] != "portcullis" || members["jti"] == "" || members["nbf"] != nil ||
		members["iat"] != float64(start.Unix()) || members["exp"] != float64(start.Add(time.Hour).Unix()) {
		t.Errorf("%v", members)
	}
	if again := mustSign(t, s, authn.TokenRequest{Subject: "user-alice-v1", TTL: time.Hour}); again == user {
		t.Error("two tokens have one id")
	}
	c.Advance(time.Hour + 30*time.Second)
	mustRefuse(t, a, user)
}

func TestMasterKeyRotation(t *testing.T) {
	c, lines := newClock(), masterKeys(2)
	request := authn.TokenRequest{Subject: "user-alice-v1", TTL: time.Hour}
	before := signer(t, c, lines[0])
	during := signer(t, c, lines[1], lines[0], lines[0])
	after := signer(t, c, lines[1])
	old, renewed := mustSign(t, before, request), mustSign(t, during, request)
	mustAccept(t, authenticator(t, c, during.Issuer()), old)
	mustAccept(t, authenticator(t, c, during.Issuer()), renewed)
	mustAccept(t, authenticator(t, c, after.Issuer()), renewed)
	mustRefuse(t, authenticator(t, c, after.Issuer()), old)
	mustRefuse(t, authenticator(t, c, before.Issuer()), renewed)
	if _, err := authn.NewSigner(resources.MasterKey{}); err == nil {
		t.Error("a signer without a key")
	}
}

func TestPublishedKeysAreThePublicOnes(t *testing.T) {
	c, lines := newClock(), masterKeys(2)
	s := signer(t, c, lines[0], lines[1], lines[0])
	document := s.JWKS()
	var set struct{ Keys []map[string]string }
	must.Do(t, json.Unmarshal(document, &set))
	if len(set.Keys) != 2 || bytes.Contains(document, []byte(`"d"`)) {
		t.Fatalf("%s", document)
	}
	for _, key := range set.Keys {
		// RFC 7638: the required members in the order of their names, as json.Marshal writes a map.
		required, err := json.Marshal(map[string]string{"kty": "OKP", "crv": "Ed25519", "x": key["x"]})
		sum := sha256.Sum256(required)
		want := map[string]string{"kty": "OKP", "crv": "Ed25519", "x": key["x"], "kid": b64(sum[:]), "use": "sig", "alg": "EdDSA"}
		if err != nil || !maps.Equal(key, want) {
			t.Errorf("%v %v", key, err)
		}
	}
	// Another gateway accepts the document.
	published := must.Get(authn.ParseKeySet(document))(t)
	settings := s.Issuer()
	settings.Keys = published
	mustAccept(t, authenticator(t, c, settings), mustSign(t, s, authn.TokenRequest{Subject: "user-1", TTL: time.Minute}))
	document[0] = 'x'
	if slices.Equal(document, s.JWKS()) {
		t.Error("the document is shared with its readers")
	}
}

func TestSignRefusesWhatVerifyWouldRefuse(t *testing.T) {
	s := signer(t, newClock(), masterKeys(1)...)
	for name, r := range map[string]authn.TokenRequest{
		"no subject":      {TTL: time.Hour},
		"control":         {Subject: "user\n", TTL: time.Hour},
		"invalid UTF-8":   {Subject: "user\xff", TTL: time.Hour},
		"long":            {Subject: strings.Repeat("u", 256), TTL: time.Hour},
		"no ttl":          {Subject: "user-1"},
		"negative ttl":    {Subject: "user-1", TTL: -time.Hour},
		"short ttl":       {Subject: "user-1", TTL: time.Millisecond},
		"user with scope": {Subject: "user-1", TTL: time.Hour, Scopes: []string{"authz:check"}},
		"unknown scope":   {Subject: "service-x", TTL: time.Hour, Scopes: []string{"root"}},
		"two in one":      {Subject: "service-x", TTL: time.Hour, Scopes: []string{"authz:check users:sync"}},
		"nameless":        {Subject: "service-", TTL: time.Hour},
		"strange name":    {Subject: "service-a/b", TTL: time.Hour},
		"service's agent": {Subject: "service-x", TTL: time.Hour, Scopes: []string{"authz:check"}, Agent: "assistant"},
		"agent's blank":   {Subject: "user-1", TTL: time.Hour, Agent: " assistant"},
		"long agent":      {Subject: "user-1", TTL: time.Hour, Agent: strings.Repeat("a", 256)},
		"too large":       {Subject: "service-x", TTL: time.Hour, Scopes: slices.Repeat([]string{"authz:check"}, 1000)},
	} {
		t.Run(name, func(t *testing.T) {
			if token, err := s.Sign(r); err == nil || token != "" {
				t.Errorf("signed %q", token)
			}
		})
	}
	s.Random = iotest.ErrReader(errors.New("no entropy"))
	if _, err := s.Sign(authn.TokenRequest{Subject: "user-1", TTL: time.Hour}); err == nil {
		t.Error("signed without randomness")
	}
}
