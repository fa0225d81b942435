package authn_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/test/must"
)

// forgeable is every encoding of an Ed25519 key of low order: its y is 0, 1, -1 or one of the
// two roots below, a small one may be written with the field's size on top, and x has either
// sign.
func forgeable(t *testing.T) []ed25519.PublicKey {
	t.Helper()
	number := func(n int64) *big.Int { return big.NewInt(n) }
	p := new(big.Int).Sub(new(big.Int).Lsh(number(1), 255), number(19))
	// d·y⁴ + 2y² - 1 = 0 for d = -121665/121666: y² = (-1 ± √(1+d))/d. One of the two is a square.
	d := new(big.Int).Mul(number(-121665), new(big.Int).ModInverse(number(121666), p))
	root := new(big.Int).ModSqrt(new(big.Int).Mod(new(big.Int).Add(d, number(1)), p), p)
	ys := []*big.Int{number(0), number(1), new(big.Int).Sub(p, number(1)), p, new(big.Int).Add(p, number(1))}
	for _, sign := range []int64{1, -1} {
		square := new(big.Int).Mul(root, number(sign))
		square.Sub(square, number(1)).Mul(square, new(big.Int).ModInverse(d, p)).Mod(square, p)
		if y := new(big.Int).ModSqrt(square, p); y != nil {
			ys = append(ys, y, new(big.Int).Sub(p, y))
		}
	}
	var keys []ed25519.PublicKey
	for _, y := range ys {
		key := y.FillBytes(make([]byte, ed25519.PublicKeySize))
		slices.Reverse(key)
		negative := slices.Clone(key)
		negative[len(negative)-1] |= 0x80
		keys = append(keys, key, negative)
	}
	if len(keys) != 14 {
		t.Fatalf("%d encodings of low order", len(keys))
	}
	return keys
}

// TestKeyUnderWhichAnybodySignsIsRefused: the neutral point as R and zero as S are a signature
// of many messages under such a key.
func TestKeyUnderWhichAnybodySignsIsRefused(t *testing.T) {
	signature := make([]byte, ed25519.SignatureSize)
	signature[0] = 1
	for _, key := range forgeable(t) {
		forged := 0
		for i := range 200 {
			if ed25519.Verify(key, []byte(fmt.Sprint(i)), signature) {
				forged++
			}
		}
		_, err := authn.ParseKeySet(jwks(t, jwk("ed", "", "", key)))
		if forged == 0 || err == nil {
			t.Errorf("%x: %d of 200 messages have the signature of nobody, %v", []byte(key), forged, err)
		}
	}
	if _, err := authn.ParseKeySet(jwks(t, jwk("ed", "", "", testKeys().ed.Public()))); err != nil {
		t.Error(err)
	}
}

func TestRSAKeyHasABoundedSize(t *testing.T) {
	for _, c := range []struct {
		bits     uint
		exponent string
		accepted bool
	}{
		{2047, "AQAB", false},
		{2048, "AQAB", true},
		{4096, "AQAB", true},
		{4097, "AQAB", false},
		{2048, "", false},
		{2048, "AQ", false},
		{2048, "Ag", false},
		{2048, "Aw", true},
		{2048, "AQAA", false},
		{2048, "f____w", true},
		{2048, "_____w", false},
		{2048, "AQAAAAAAAAAB", false},
	} {
		modulus := new(big.Int).Lsh(big.NewInt(1), c.bits)
		key := object{"kty": "RSA", "n": b64(modulus.Sub(modulus, big.NewInt(1)).Bytes()), "e": c.exponent}
		if _, err := authn.ParseKeySet(jwks(t, key)); (err == nil) != c.accepted {
			t.Errorf("%d bits, exponent %s: %v", c.bits, c.exponent, err)
		}
	}
}

func TestMalformedJWKIsRefused(t *testing.T) {
	k := testKeys()
	ed, es, rs := jwk("a", "", "", k.ed.Public()), jwk("b", "", "", k.es.Public()), jwk("c", "", "", k.rs.Public())
	y := must.Get(base64.RawURLEncoding.DecodeString(es["y"].(string)))(t)
	for name, key := range map[string]object{
		"kty missing":            ed.merged(object{"kty": nil}),
		"kty empty":              ed.merged(object{"kty": ""}),
		"kty a number":           ed.merged(object{"kty": 1}),
		"kty unknown":            ed.merged(object{"kty": "AKP"}),
		"kty in other letters":   ed.merged(object{"kty": "okp"}),
		"kty of another key":     ed.merged(object{"kty": "RSA"}),
		"kid a number":           ed.merged(object{"kid": 1}),
		"alg a list":             ed.merged(object{"alg": []string{"EdDSA"}}),
		"crv missing":            ed.merged(object{"crv": nil}),
		"crv of another use":     ed.merged(object{"crv": "X25519"}),
		"crv in other letters":   ed.merged(object{"crv": "ed25519"}),
		"x missing":              ed.merged(object{"x": nil}),
		"x a number":             ed.merged(object{"x": 1}),
		"x padded":               ed.merged(object{"x": ed["x"].(string) + "="}),
		"x in another alphabet":  ed.merged(object{"x": "+/" + ed["x"].(string)[2:]}),
		"x too long":             ed.merged(object{"x": "AAAA" + ed["x"].(string)}),
		"another's n":            ed.merged(object{"n": 1}),
		"P-256 on another curve": es.merged(object{"crv": "P-384"}),
		"P-256, no y":            es.merged(object{"y": nil}),
		"P-256, x too long":      es.merged(object{"x": "AAAA" + es["x"].(string)}),
		"P-256, y too short":     es.merged(object{"y": b64(y[1:])}),
		"P-256, y of another":    es.merged(object{"y": es["x"]}),
		"P-256, y beyond":        es.merged(object{"y": b64(bytes.Repeat([]byte{0xff}, 32))}),
		"P-256, infinity":        es.merged(object{"x": b64(make([]byte, 32)), "y": b64(make([]byte, 32))}),
		"RSA, no n":              rs.merged(object{"n": nil}),
		"RSA, no e":              rs.merged(object{"e": nil}),
		"RSA, e a number":        rs.merged(object{"e": 65537}),
	} {
		t.Run(name, func(t *testing.T) {
			if set, err := authn.ParseKeySet(jwks(t, key)); err == nil || set.Len() != 0 {
				t.Errorf("accepted: %s", key.json())
			}
		})
	}
	for name, raw := range map[string]string{
		"null is missing":      strings.Replace(ed.json(), `"kid":"a"`, `"kid":null,"alg":null,"y":null`, 1),
		"other members":        strings.Replace(ed.json(), `{`, `{"x5c":7,"x5t":"?","d":1,"ext":true,"note":{"kty":"oct"},`, 1),
		"an algorithm and use": ed.merged(object{"alg": "EdDSA", "use": "sig", "key_ops": "verify"}).json(),
	} {
		if _, err := authn.ParseKeySet([]byte(`{"keys":[` + raw + `]}`)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSymmetricKeyIsFoundWhateverElseItHolds(t *testing.T) {
	ed := jwk("ed", "", "", testKeys().ed.Public())
	for _, changes := range []object{{}, {"kid": 1}, {"x": "?"}, {"use": "enc"}, {"k": 1}} {
		raw := jwks(t, ed, jwk("oct", "", "", []byte("bytes")).merged(changes))
		if _, err := authn.ParseKeySet(raw); err == nil || !strings.Contains(err.Error(), "symmetric") {
			t.Errorf("%s: %v", raw, err)
		}
	}
}
