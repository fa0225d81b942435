package authn_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

const (
	issuerName = "https://issuer.test"
	audience   = "portcullis.test"
	refusal    = "invalid or expired authentication token"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// clock is a clock that only Advance moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: start} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// keys are made once, since RSA keys take long under the race detector.
type keys struct {
	ed, otherEd ed25519.PrivateKey
	es, p384    *ecdsa.PrivateKey
	rs, weak    *rsa.PrivateKey
}

var testKeys = sync.OnceValue(func() keys {
	k := keys{}
	_, k.ed, _ = ed25519.GenerateKey(rand.Reader)
	_, k.otherEd, _ = ed25519.GenerateKey(rand.Reader)
	k.es, _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	k.p384, _ = ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	k.rs, _ = rsa.GenerateKey(rand.Reader, 2048)
	k.weak, _ = rsa.GenerateKey(rand.Reader, 1024)
	return k
})

// signature signs without the library under test.
func signature(alg string, key crypto.Signer, text string) []byte {
	sum := sha256.Sum256([]byte(text))
	switch k := key.(type) {
	case ed25519.PrivateKey:
		return ed25519.Sign(k, []byte(text))
	case *ecdsa.PrivateKey:
		r, s, err := ecdsa.Sign(rand.Reader, k, sum[:])
		if err != nil {
			panic(err)
		}
		size := (k.Curve.Params().BitSize + 7) / 8
		return append(r.FillBytes(make([]byte, size)), s.FillBytes(make([]byte, size))...)
	case *rsa.PrivateKey:
		var sig []byte
		var err error
		if alg == "PS256" {
			sig, err = rsa.SignPSS(rand.Reader, k, crypto.SHA256, sum[:], &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash})
		} else {
			sig, err = rsa.SignPKCS1v15(rand.Reader, k, crypto.SHA256, sum[:])
		}
		if err != nil {
			panic(err)
		}
		return sig
	}
	panic("unknown key")
}

func b64(s []byte) string { return base64.RawURLEncoding.EncodeToString(s) }

// forge returns a signed token of raw JSON, which may be malformed.
func forge(head, payload, alg string, key crypto.Signer) string {
	text := b64([]byte(head)) + "." + b64([]byte(payload))
	return text + "." + b64(signature(alg, key, text))
}

type object map[string]any

func (o object) json() string {
	raw, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// merged returns a copy with the members changed; nil removes a member.
func (o object) merged(changes object) object {
	out := object{}
	for name, value := range o {
		out[name] = value
	}
	for name, value := range changes {
		if value == nil {
			delete(out, name)
		} else {
			out[name] = value
		}
	}
	return out
}

func edHead() object { return object{"alg": "EdDSA", "typ": "JWT", "kid": "ed"} }

func claims() object {
	return object{"iss": issuerName, "aud": audience, "sub": "user-alice-v1", "exp": start.Add(time.Hour).Unix()}
}

// edToken signs the standard claims, changed, with the standard key.
func edToken(changes object) string {
	return forge(edHead().json(), claims().merged(changes).json(), "EdDSA", testKeys().ed)
}

// AgentOf implements authn.Directory.
func (directory) AgentOf(context.Context, string, resources.AgentClient) (resources.Identity, bool, error) {
	return resources.Identity{}, false, nil
}

// IdentifyKey implements authn.Directory.
func (directory) IdentifyKey(context.Context, string) (resources.KeyIdentity, bool, error) {
	return resources.KeyIdentity{}, false, nil
}

// directory is a fake: users by subject.
type directory func(ctx context.Context, subject string, byExternal, byPartner bool) (resources.Identity, bool, error)

func (d directory) Identify(ctx context.Context, subject string, byExternal, byPartner bool) (resources.Identity, bool, error) {
	return d(ctx, subject, byExternal, byPartner)
}

var errDirectory = errors.New("directory is down")

func users(_ context.Context, sub string, _, _ bool) (resources.Identity, bool, error) {
	user := resources.Identity{ID: sub, UUID: "uuid-of-" + sub, AccountID: "acct-1-v1", Status: resources.StatusActive}
	switch {
	case sub == "user-unreachable":
		return resources.Identity{}, false, errDirectory
	case sub == "user-unknown":
		return resources.Identity{}, false, nil
	case strings.HasPrefix(sub, "status-"):
		user.Status = strings.TrimPrefix(sub, "status-")
	}
	return user, true, nil
}

func issuer(source authn.KeySource) authn.Issuer {
	return authn.Issuer{
		Issuer: issuerName, Audience: audience, Keys: source, Subjects: authn.SubjectsBoth,
		Services: authn.Services{Allowed: true, Scopes: []string{resources.ServiceScopeCheck, resources.ServiceScopeUsers}},
	}
}

func authenticator(t testing.TB, c *clock, issuers ...authn.Issuer) *authn.Authenticator {
	t.Helper()
	return must.Get(authn.New(authn.Options{Issuers: issuers, Directory: directory(users), Now: c.Now}))(t)
}

func standard(t testing.TB) *authn.Authenticator {
	t.Helper()
	return authenticator(t, newClock(), issuer(keySet(t, standardKeys()...)))
}

func mustAccept(t *testing.T, a *authn.Authenticator, token string) resources.Principal {
	t.Helper()
	p, err := a.Verify(t.Context(), token)
	if err != nil {
		t.Fatalf("refused: %v", err)
	}
	return p
}

// mustRefuse fails the test unless the token gets the one refusal, without a part of the token.
func mustRefuse(t *testing.T, a *authn.Authenticator, token string) {
	t.Helper()
	p, err := a.Verify(t.Context(), token)
	if err == nil {
		t.Fatalf("accepted as %+v", p)
	}
	if p.Kind != "" || p.ID != "" || p.Scopes != nil {
		t.Errorf("a refusal carries the principal %+v", p)
	}
	var e *resources.Error
	if !errors.As(err, &e) || e.Kind != resources.KindBadCredential || e.Message != refusal || e.Cause == nil {
		t.Fatalf("refused with %#v", err)
	}
	for _, part := range strings.Split(token, ".") {
		if len(part) > 20 && strings.Contains(err.Error(), part) {
			t.Errorf("the cause holds a part of the token: %v", err)
		}
	}
}
