package authn_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/test/must"
)

func TestBadKeySetIsRefused(t *testing.T) {
	k := testKeys()
	good := string(jwks(t, jwk("ed", "", "", k.ed.Public())))
	for name, tc := range map[string]struct{ raw, says string }{
		"symmetric only":    {string(jwks(t, jwk("oct", "HS256", "sig", []byte("not a secret, just bytes")))), "symmetric"},
		"symmetric beside":  {string(jwks(t, jwk("ed", "", "", k.ed.Public()), jwk("oct", "", "", []byte("more bytes")))), "symmetric"},
		"weak RSA":          {string(jwks(t, jwk("weak", "RS256", "sig", k.weak.Public()))), "2048"},
		"P-384":             {string(jwks(t, jwk("p384", "ES384", "sig", k.p384.Public()))), "P-256"},
		"for encryption":    {string(jwks(t, jwk("enc", "", "enc", k.ed.Public()))), "use"},
		"other algorithm":   {string(jwks(t, jwk("rs", "RS512", "sig", k.rs.Public()))), "alg"},
		"alg of other type": {string(jwks(t, jwk("rs", "ES256", "sig", k.rs.Public()))), "alg"},
		"RSA-OAEP":          {string(jwks(t, jwk("rs", "RSA-OAEP", "", k.rs.Public()))), "alg"},
		"exponent 1":        {`{"keys":[{"kty":"RSA","n":"` + strings.Repeat("_", 342) + `","e":"AQ"}]}`, "keys[0]"},
		"even exponent":     {`{"keys":[{"kty":"RSA","n":"` + strings.Repeat("_", 342) + `","e":"BA"}]}`, "exponent"},
		"RSA of 9,000 bits": {`{"keys":[{"kty":"RSA","n":"` + strings.Repeat("_", 1500) + `","e":"AQAB"}]}`, "keys[0]"},
		"point not on P256": {`{"keys":[{"kty":"EC","crv":"P-256","x":"` + strings.Repeat("A", 43) + `","y":"` + strings.Repeat("A", 43) + `"}]}`, "malformed"},
		"Ed25519 too short": {`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AAAA"}]}`, "malformed"},
		"no kty":            {`{"keys":[{"kid":"x"}]}`, "malformed"},
		"empty":             {`{"keys":[]}`, "empty"},
		"no list":           {`{}`, "keys"},
		"keys null":         {`{"keys":null}`, "keys"},
		"not JSON":          {`<html>`, "key set"},
		"duplicate keys":    {`{"keys":[],` + good[1:], "twice"},
		"two documents":     {good + good, "malformed"},
		"too long":          {good + strings.Repeat(" ", 1<<20), "1 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := authn.ParseKeySet([]byte(tc.raw)); err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestUnusableKeysLeaveTheOthers(t *testing.T) {
	k := testKeys()
	set := keySet(t, jwk("weak", "RS256", "sig", k.weak.Public()), jwk("p384", "", "", k.p384.Public()), jwk("ed", "", "", k.ed.Public()))
	a := authenticator(t, newClock(), issuer(set))
	mustAccept(t, a, edToken(nil))
	mustRefuse(t, a, forge(`{"alg":"RS256","kid":"weak"}`, claims().json(), "RS256", k.weak))
	mustRefuse(t, a, forge(`{"alg":"ES256","kid":"p384"}`, claims().json(), "ES256", k.p384))
}

func TestKeyIsUsedForItsStatedPurposeOnly(t *testing.T) {
	k := testKeys()
	source := func(member string) authn.KeySource {
		return must.Get(authn.ParseKeySet([]byte(`{"keys":[` + jwk("other", "", "", k.es.Public()).json() + `,` +
			strings.Replace(jwk("rs", "", "", k.rs.Public()).json(), "{", "{"+member, 1) + `]}`)))(t)
	}
	for member, accepted := range map[string][]string{
		``:                                       {"RS256", "PS256"},
		`"alg":"RS256",`:                         {"RS256"},
		`"alg":"PS256",`:                         {"PS256"},
		`"alg":"RS384",`:                         nil,
		`"use":"sig",`:                           {"RS256", "PS256"},
		`"use":"enc",`:                           nil,
		`"use":"",`:                              nil,
		`"use":7,`:                               nil,
		`"key_ops":["verify"],`:                  {"RS256", "PS256"},
		`"key_ops":["sign","verify"],`:           {"RS256", "PS256"},
		`"key_ops":["sign"],`:                    nil,
		`"key_ops":["encrypt","wrapKey"],`:       nil,
		`"key_ops":[],`:                          nil,
		`"use":"sig","key_ops":["encrypt"],`:     nil,
		`"x5c":["AAAA"],"x5u":"http://[broken",`: {"RS256", "PS256"},
	} {
		t.Run(member, func(t *testing.T) {
			a := authenticator(t, newClock(), issuer(source(member)))
			for _, alg := range []string{"RS256", "PS256"} {
				_, err := a.Verify(t.Context(), forge(fmt.Sprintf(`{"alg":%q,"kid":"rs"}`, alg), claims().json(), alg, k.rs))
				if want := strings.Contains(strings.Join(accepted, " "), alg); (err == nil) != want {
					t.Errorf("%s accepted %v: %v", alg, err == nil, err)
				}
			}
		})
	}
}

func TestTokenWithoutKidNeedsASingleKey(t *testing.T) {
	k := testKeys()
	token := forge(`{"alg":"EdDSA"}`, claims().json(), "EdDSA", k.ed)
	one := jwk("a", "", "", k.ed.Public())
	two := jwk("b", "", "", k.otherEd.Public())
	es := jwk("c", "", "", k.es.Public())
	mustAccept(t, authenticator(t, newClock(), issuer(keySet(t, one, es))), token)
	mustRefuse(t, authenticator(t, newClock(), issuer(keySet(t, one, two))), token)
	mustRefuse(t, authenticator(t, newClock(), issuer(keySet(t, two, one))), token)
	mustRefuse(t, authenticator(t, newClock(), issuer(keySet(t, es))), token)
	// A key without a kid does not match a token with one.
	nameless := authenticator(t, newClock(), issuer(keySet(t, jwk("", "", "", k.ed.Public()))))
	mustAccept(t, nameless, token)
	mustRefuse(t, nameless, edToken(nil))
}

func TestTwoKeysUnderOneKidAreRefused(t *testing.T) {
	k := testKeys()
	one, two := jwk("ed", "", "", k.ed.Public()), jwk("ed", "", "", k.otherEd.Public())
	mustRefuse(t, authenticator(t, newClock(), issuer(keySet(t, one, two))), edToken(nil))
	mustRefuse(t, authenticator(t, newClock(), issuer(keySet(t, two, one))), edToken(nil))
	// The same key twice, and a key for another algorithm under the kid, are not ambiguous.
	mustAccept(t, authenticator(t, newClock(), issuer(keySet(t, jwk("ed", "", "", k.ed.Public()), jwk("ed", "", "", k.ed.Public()), jwk("ed", "", "", k.es.Public())))), edToken(nil))
}

func TestPublishedPrivateKeyChecksAsItsPublicPart(t *testing.T) {
	k := testKeys()
	a := authenticator(t, newClock(), issuer(keySet(t, jwk("ed", "", "", k.ed), jwk("es", "", "", k.es), jwk("rs", "", "", k.rs))))
	mustAccept(t, a, edToken(nil))
	mustAccept(t, a, forge(`{"alg":"ES256","kid":"es"}`, claims().json(), "ES256", k.es))
	mustAccept(t, a, forge(`{"alg":"RS256","kid":"rs"}`, claims().json(), "RS256", k.rs))
}
