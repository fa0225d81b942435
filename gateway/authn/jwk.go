package authn

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// minRSABits and maxRSABits bound an RSA modulus: a shorter one can be factored, a longer
	// one costs too much to check.
	minRSABits = 2048
	maxRSABits = 4096
	// maxExponentBits is the longest RSA exponent that crypto/rsa takes.
	maxExponentBits = 31
	// coordinateSize is the length of x and y on P-256 in bytes.
	coordinateSize = 32
)

var (
	errKeyForm     = errors.New("malformed")
	errKeyType     = errors.New("the type must be Ed25519, EC P-256 or RSA")
	errKeyUse      = errors.New("use and key_ops must allow the checking of signatures")
	errKeyAlg      = errors.New("alg must be EdDSA, ES256, RS256 or PS256, and fit the type")
	errRSASize     = fmt.Errorf("an RSA key must have %d to %d bits", minRSABits, maxRSABits)
	errRSAExponent = fmt.Errorf("an RSA exponent must be odd, at least 3 and at most %d bits long", maxExponentBits)
)

// jwk holds the members of a JWK that identify its public key (RFC 7518, 6; RFC 8037, 2).
type jwk struct {
	kty, kid, alg, crv string
	x, y, n, e         []byte
}

// readJWK reads the members. null counts as missing. Other members are ignored: private parts,
// and certificates, since no chain is checked.
func readJWK(members map[string]jsontext.Value) (jwk, error) {
	var key jwk
	for _, member := range []struct {
		name string
		text *string
		raw  *[]byte
	}{
		{name: "kty", text: &key.kty},
		{name: "kid", text: &key.kid},
		{name: "alg", text: &key.alg},
		{name: "crv", text: &key.crv},
		{name: "x", raw: &key.x},
		{name: "y", raw: &key.y},
		{name: "n", raw: &key.n},
		{name: "e", raw: &key.e},
	} {
		if members[member.name].Kind() == 'n' {
			continue
		}
		value, err := stringMember(members, member.name)
		if err != nil {
			return jwk{}, errKeyForm
		}
		if member.text != nil {
			*member.text = value
			continue
		}
		if *member.raw, err = base64.RawURLEncoding.DecodeString(value); err != nil {
			return jwk{}, errKeyForm
		}
	}
	return key, nil
}

// readKey returns the key of a JWK, once for each algorithm that it may check. Of a private key
// only the public part is read. Errors have nothing of the key.
//
// jwx can't take its place: OPA turns its checks of RSA keys off for the whole process, so that it accepts one of 1,024
// bits and one with the exponent 1; and it accepts Ed25519 keys of low order, padded base64 and a member twice.
func readKey(members map[string]jsontext.Value) ([]verifyKey, error) {
	if kty, err := stringMember(members, "kty"); err != nil || kty == "" {
		return nil, errKeyForm
	} else if kty == "oct" {
		return nil, errSymmetricKey
	}
	if !mayVerify(members) {
		return nil, errKeyUse
	}
	key, err := readJWK(members)
	if err != nil {
		return nil, err
	}
	public, algs, err := key.public()
	if err != nil {
		return nil, err
	}
	var out []verifyKey
	for _, alg := range algs {
		if key.alg == "" || key.alg == alg {
			one, err := newVerifyKey(key.kid, alg, public)
			if err != nil {
				return nil, errKeyForm
			}
			out = append(out, one)
		}
	}
	if len(out) == 0 {
		return nil, errKeyAlg
	}
	return out, nil
}

// public returns the key and the algorithms that it may check.
func (k jwk) public() (crypto.PublicKey, []string, error) {
	switch {
	case k.kty == "OKP" && k.crv == "Ed25519":
		if len(k.x) != ed25519.PublicKeySize || hasLowOrder(k.x) {
			return nil, nil, errKeyForm
		}
		return ed25519.PublicKey(k.x), []string{algEdDSA}, nil
	case k.kty == "EC" && k.crv == "P-256":
		if len(k.x) != coordinateSize || len(k.y) != coordinateSize {
			return nil, nil, errKeyForm
		}
		public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), slices.Concat([]byte{4}, k.x, k.y)) // SEC 1, 2.3.3
		if err != nil {
			return nil, nil, errKeyForm
		}
		return public, []string{algES256}, nil
	case k.kty == "RSA":
		public, err := k.rsa()
		return public, []string{algRS256, algPS256}, err
	}
	return nil, nil, errKeyType
}

// rsa returns the RSA key. It refuses a weak key, and one that is slow to check.
func (k jwk) rsa() (*rsa.PublicKey, error) {
	n, e := new(big.Int).SetBytes(k.n), new(big.Int).SetBytes(k.e)
	if bits := n.BitLen(); bits < minRSABits || bits > maxRSABits {
		return nil, errRSASize
	}
	if e.BitLen() < 2 || e.BitLen() > maxExponentBits || e.Bit(0) == 0 {
		return nil, errRSAExponent
	}
	return &rsa.PublicKey{N: n, E: int(e.Int64())}, nil
}

// hasLowOrder reports whether an Ed25519 key is a point of order 1, 2, 4 or 8, under which
// anybody can sign. The points of order 1, 2 and 4 have y = 1, -1 and 0. A point of order 8
// doubles to one of order 4, so that the curve's addition gives x² = -y², and its equation
// -x² + y² = 1 + dx²y² with d = -121665/121666 gives 121665y⁴ - 243332y² + 121666 = 0.
func hasLowOrder(key ed25519.PublicKey) bool {
	encoded := slices.Clone(key)
	encoded[len(encoded)-1] &= 0x7f // the sign of x
	slices.Reverse(encoded)
	p := new(big.Int).Lsh(big.NewInt(1), 255)
	p.Sub(p, big.NewInt(19))
	y := new(big.Int).SetBytes(encoded)
	square := new(big.Int).Mul(y, y)
	quartic := new(big.Int).Mul(square, big.NewInt(121665))
	quartic.Sub(quartic, big.NewInt(243332)).Mul(quartic, square).Add(quartic, big.NewInt(121666))
	product := new(big.Int).Mul(y, square.Sub(square, big.NewInt(1)))
	product.Mul(product, quartic).Mod(product, p)
	return product.Sign() == 0
}

// mayVerify reports whether `use` and `key_ops` (RFC 7517, 4.2 and 4.3) allow the checking of
// signatures. A missing member allows it.
func mayVerify(members map[string]jsontext.Value) bool {
	if _, ok := members["use"]; ok {
		if use, err := stringMember(members, "use"); err != nil || use != "sig" {
			return false
		}
	}
	if _, ok := members["key_ops"]; ok {
		if ops, err := listMember(members, "key_ops"); err != nil || !slices.Contains(ops, "verify") {
			return false
		}
	}
	return true
}

// hasPrivatePart reports whether a JWK holds a private key (RFC 7518, 6.2.2 and 6.3.2) or a
// symmetric one.
func hasPrivatePart(members map[string]jsontext.Value) bool {
	return slices.ContainsFunc([]string{"d", "p", "q", "dp", "dq", "qi", "oth", "priv", "k"}, func(name string) bool {
		_, ok := members[name]
		return ok
	})
}
