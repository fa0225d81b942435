package authn_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
)

// FuzzVerify guarantees three things: only the genuine token is accepted, no token causes a panic,
// every refusal has the same public text.
func FuzzVerify(f *testing.F) {
	a := standard(f)
	genuine := edToken(nil)
	parts := strings.Split(genuine, ".")
	for _, seed := range []string{
		"", ".", "..", "a.b.c", genuine[:40], genuine + "=", parts[0] + "." + parts[1] + ".", parts[0] + ".." + parts[2],
		b64([]byte(`{"alg":"none"}`)) + "." + parts[1] + ".",
		b64([]byte(`{"alg":"ES256","kid":"es"}`)) + "." + parts[1] + "." + parts[2],
		b64([]byte(`{"alg":"EdDSA","x":"\ud800\`)) + "." + parts[1] + "." + parts[2],
		parts[0] + "." + b64([]byte(`{"iss":"`+issuerName+`","exp":1e400}`)) + "." + parts[2],
	} {
		f.Add(seed)
	}
	for _, head := range []string{
		`{"alg":"EdDSA","kid":"ed","crit":["b64"],"b64":false}`, `{"alg":"EdDSA","jwk":{"kty":"OKP","crv":"Ed25519","x":"AA"}}`,
		`{"alg":"EdDSA","jku":"https://idp.test/keys"}`, `{"alg":"EdDSA","kid":"../../dev/null"}`, `{"alg":"NoNe"}`,
		`{"alg":"HS256","kid":"rs"}`, `{"alg":"none","alg":"EdDSA"}`, `{"alg":"EdDSA","kid":"ed","typ":"JWE","zip":"DEF"}`,
	} {
		f.Add(b64([]byte(head)) + "." + parts[1] + "." + parts[2])
		f.Add(b64([]byte(head)) + "." + parts[1] + ".")
	}
	f.Fuzz(func(t *testing.T, token string) {
		p, err := a.Verify(t.Context(), token)
		if err == nil {
			if token != genuine {
				t.Fatalf("accepted %q as %+v", token, p)
			}
			return
		}
		e := resources.AsError(err)
		blank := strings.TrimSpace(token) == "" && e.Kind == resources.KindNoCredential
		if !blank && (e.Kind != resources.KindBadCredential || e.Message != refusal) || p.Kind != "" {
			t.Fatalf("%q: %v, %+v", token, err, p)
		}
	})
}

// FuzzVerifySignedJSON guarantees that an accepted token has a subject and an expiry. The fuzzer's
// headers and claims are signed, so that they pass the signature check.
func FuzzVerifySignedJSON(f *testing.F) {
	a, k := standard(f), testKeys()
	f.Add(edHead().json(), claims().json())
	f.Add(`{"alg":"EdDSA","x":"\ud83d\ude00\\"}`, claims().merged(object{"aud": []string{"x", audience}}).json())
	f.Fuzz(func(t *testing.T, head, payload string) {
		p, err := a.Verify(t.Context(), forge(head, payload, "EdDSA", k.ed))
		if err == nil && (p.ID == "" || !strings.Contains(payload, `"`+"exp") && !strings.Contains(payload, `\u`)) {
			t.Fatalf("accepted %q . %q as %+v", head, payload, p)
		}
	})
}

// FuzzParseKeySet guarantees that a key set of any bytes is refused, or its keys check a token
// without a panic.
func FuzzParseKeySet(f *testing.F) {
	k := testKeys()
	tokens := []string{edToken(nil), rsToken(), forge(`{"alg":"ES256"}`, claims().json(), "ES256", k.es)}
	f.Add(jwks(f, standardKeys()...))
	for _, key := range []any{k.ed, k.es, k.rs, k.p384, k.weak.Public(), []byte("bytes")} {
		f.Add(jwks(f, jwk("a", "", "", key)))
	}
	f.Add([]byte(`{"keys":[{"kty":"RSA","n":"","e":"_____w"},{"kty":"OKP","crv":"Ed25519","x":""},{"kty":"EC","crv":"P-256","x":null}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		set, err := authn.ParseKeySet(raw)
		if (err == nil) != (set.Len() > 0) {
			t.Fatalf("%q: %d keys, %v", raw, set.Len(), err)
		}
		if err != nil {
			return
		}
		a := authenticator(t, newClock(), issuer(set))
		for _, token := range tokens {
			if _, err := a.Verify(t.Context(), token); err != nil && resources.AsError(err).Message != refusal {
				t.Fatalf("%q: %v", raw, err)
			}
		}
	})
}
