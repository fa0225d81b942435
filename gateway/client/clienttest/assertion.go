package clienttest

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/client"
)

const (
	keysPath = "/assertions/jwks.json"
	keyID    = "clienttest"
)

// assertionKeys sign assertions.
type assertionKeys struct {
	key  ed25519.PrivateKey
	jwks []byte
}

func newAssertionKeys(t testing.TB) assertionKeys {
	t.Helper()
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	jwks, err := json.Marshal(map[string]any{"keys": []any{map[string]string{
		"kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "kid": keyID, "x": base64.RawURLEncoding.EncodeToString(public),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return assertionKeys{key, jwks}
}

func (k assertionKeys) serve(w http.ResponseWriter, _ *http.Request) {
	_, _ = w.Write(k.jwks) // a client that is gone needs no answer
}

// Assert adds to a request the gateway's headers for that caller and service. change may spoil the assertion's header
// and claims.
func (g *Gateway) Assert(t testing.TB, r *http.Request, service string, caller client.Caller, body []byte, change ...func(header, claims map[string]any)) {
	t.Helper()
	const requestID = "request-1"
	now := time.Now().Unix()
	header := map[string]any{"alg": "EdDSA", "typ": "portcullis-assertion+jwt", "kid": keyID}
	claims := map[string]any{
		"iss": "portcullis-gateway", "aud": []string{service}, "sub": caller.ID, "iat": now, "exp": now + 30, //nolint:mnd // seconds
		"request_id": requestID, "method": r.Method, "target_sha256": hash(r.URL.RequestURI()), "body_sha256": hash(string(body)),
		"idempotency_key_sha256": hash(r.Header.Get("Idempotency-Key")), "account": caller.Account, "action": caller.Action,
		"principal": map[string]any{
			"kind": caller.Kind, "uuid": caller.UUID, "account_id": caller.AccountID, "scopes": caller.Scopes,
			"credential": caller.Credential, "key_scopes": caller.KeyScopes, "key_id": caller.KeyID,
		},
	}
	for _, f := range change {
		f(header, claims)
	}
	signed := part(t, header) + "." + part(t, claims)
	signature := ed25519.Sign(g.keys.key, []byte(signed))
	r.Header.Set("X-Request-ID", requestID)
	r.Header.Set(client.AssertionHeader, signed+"."+base64.RawURLEncoding.EncodeToString(signature))
}

// part returns a part of a JWT: the value as JSON, in base64url.
func part(t testing.TB, value any) string {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
