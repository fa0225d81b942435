package authn_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/authn"
)

// FuzzCachedIsFresh guarantees that an authenticator with a cache answers as one without,
// while tokens are altered, time moves and keys change.
func FuzzCachedIsFresh(f *testing.F) {
	sets := []authn.KeySet{
		keySet(f, standardKeys()...), keySet(f, standardKeys()[1:]...),
		{},
		keySet(f, jwk("ed", "EdDSA", "sig", testKeys().otherEd.Public())), keySet(f, jwk("", "", "", testKeys().ed.Public())),
	}
	tokens := []string{
		edToken(nil), edToken(object{"exp": start.Add(time.Minute).Unix(), "nbf": start.Add(-time.Minute).Unix()}), rsToken(),
		edToken(object{"iss": "https://second.test", "sub": "service-x", "scope": "authz:check x"}), edToken(object{"iat": start.Add(time.Minute).Unix()}),
		forge(edHead().merged(object{"kid": nil}).json(), claims().json(), "EdDSA", testKeys().ed), edToken(object{"sub": "status-SUSPENDED"}),
	}
	f.Add([]byte{0, 0, 0, 0, 3, 1, 0, 0, 3, 0, 0, 0})
	f.Add([]byte{0, 1, 2, 30, 2, 30, 2, 30, 0, 1, 2, 200, 0, 1, 4, 4, 0, 4})
	f.Add([]byte{0, 3, 1, 40, 0, 3, 3, 3, 0, 0, 3, 4, 0, 5, 0, 0, 3, 2, 0, 5})
	f.Fuzz(func(t *testing.T, steps []byte) {
		c, source := newClock(), &switched{set: sets[0]}
		second := issuer(source)
		second.Issuer = "https://second.test"
		cached := caching(t, c, 4, issuer(source), second)
		uncached := caching(t, c, -1, issuer(source), second)
		for ; len(steps) >= 2; steps = steps[2:] {
			token := []byte(tokens[int(steps[1])%len(tokens)])
			switch steps[0] % 5 {
			case 1: // alter one byte
				token[int(steps[1])*len(token)/256] ^= 1 << (steps[0] % 7)
			case 2:
				c.Advance(time.Duration(int8(steps[1])) * time.Second)
				continue
			case 3:
				source.put(sets[int(steps[1])%len(sets)], nil)
				continue
			case 4:
				c.Advance(time.Duration(int8(steps[1])))
				continue
			}
			sameAnswer(t, cached, uncached, string(token))
		}
	})
}

// sameAnswer compares principals, claims and errors with their causes.
func sameAnswer(t *testing.T, cached, uncached *authn.Authenticator, token string) {
	t.Helper()
	said, err := cached.Claims(t.Context(), token)
	wantSaid, wantErr := uncached.Claims(t.Context(), token)
	caller, whoErr := cached.Verify(t.Context(), token)
	wantWho, wantWhoErr := uncached.Verify(t.Context(), token)
	if fmt.Sprint(err, whoErr) != fmt.Sprint(wantErr, wantWhoErr) || !reflect.DeepEqual(said, wantSaid) || !reflect.DeepEqual(caller, wantWho) {
		t.Fatalf("cached: %+v %+v %v\nfresh:  %+v %+v %v", said, caller, err, wantSaid, wantWho, wantErr)
	}
}

// BenchmarkVerify verifies a token that is cached, and one without a cache.
func BenchmarkVerify(b *testing.B) {
	k := testKeys()
	es := forge(object{"alg": "ES256", "kid": "es"}.json(), claims().json(), "ES256", k.es)
	for _, cache := range []struct {
		name   string
		tokens int
	}{{"cached", 0}, {"fresh", -1}} {
		for name, token := range map[string]string{"EdDSA": edToken(nil), "ES256": es, "PS256": rsToken()} {
			b.Run(cache.name+"/"+name, func(b *testing.B) {
				a := caching(b, newClock(), cache.tokens, issuer(keySet(b, standardKeys()...)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := a.Verify(b.Context(), token); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
