package authn

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"errors"
	"fmt"
	"slices"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of an RSA modulus in bits: below it can be factored, above it costs too much to check.
const (
	minRSABits = 2048
	maxRSABits = 8192
)

var (
	errKeyForm     = errors.New("malformed")
	errKeyType     = errors.New("a type that is not accepted (Ed25519, EC P-256 and RSA are)")
	errKeyUse      = errors.New("not meant for checking signatures (use, key_ops)")
	errKeyAlg      = errors.New("its alg is not one of EdDSA, ES256, RS256, PS256, or does not fit its type")
	errRSASize     = fmt.Errorf("an RSA key of less than %d or more than %d bits", minRSABits, maxRSABits)
	errRSAExponent = errors.New("an RSA key with an even or too small exponent")
)

// readKey reads one JWK, once for each algorithm that it may check. Of a
// private key only the public part is kept. Errors hold nothing of the key.
func readKey(raw []byte) ([]verifyKey, error) {
	members, err := strictObject(raw)
	if err != nil {
		return nil, errKeyForm
	}
	if kty, err := stringMember(members, "kty"); err != nil {
		return nil, errKeyForm
	} else if kty == "oct" {
		return nil, errSymmetricKey
	}
	if !mayVerify(members) {
		return nil, errKeyUse
	}
	for _, name := range slices.Concat(privateMembers(), certificateMembers()) {
		delete(members, name)
	}
	bare, err := json.Marshal(members)
	if err != nil {
		return nil, errKeyForm
	}
	var key jose.JSONWebKey
	if err := key.UnmarshalJSON(bare); errors.Is(err, jose.ErrUnsupportedKeyType) {
		return nil, errKeyType
	} else if err != nil {
		return nil, errKeyForm
	}
	return verifyKeys(key)
}

// privateMembers are dropped before a key is read (RFC 7518, 6.2.2 and 6.3.2).
func privateMembers() []string { return []string{"d", "p", "q", "dp", "dq", "qi", "oth", "priv", "k"} }

// certificateMembers are dropped too: no chain is checked, so they would only be
// a second place to read the key from.
func certificateMembers() []string { return []string{"x5c", "x5u", "x5t", "x5t#S256"} }

func verifyKeys(key jose.JSONWebKey) ([]verifyKey, error) {
	algs, err := algorithmsOf(key.Key)
	if err != nil {
		return nil, err
	}
	var out []verifyKey
	for _, alg := range algs {
		if key.Algorithm == "" || key.Algorithm == alg {
			one, err := newVerifyKey(key.KeyID, alg, key.Key)
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

// algorithmsOf says what a public key can check, and refuses a weak one.
func algorithmsOf(public crypto.PublicKey) ([]string, error) {
	switch key := public.(type) {
	case ed25519.PublicKey:
		return []string{algEdDSA}, nil
	case *ecdsa.PublicKey:
		if key.Curve == elliptic.P256() {
			return []string{algES256}, nil
		}
	case *rsa.PublicKey:
		if bits := key.N.BitLen(); bits < minRSABits || bits > maxRSABits {
			return nil, errRSASize
		}
		if key.E < 3 || key.E%2 == 0 {
			return nil, errRSAExponent
		}
		return []string{algRS256, algPS256}, nil
	}
	return nil, errKeyType
}

// mayVerify reads `use` and `key_ops` (RFC 7517, 4.2 and 4.3), which bind where they are there.
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

func hasPrivatePart(raw []byte) bool {
	members, err := strictObject(raw)
	if err != nil {
		return false
	}
	for _, name := range privateMembers() {
		if _, ok := members[name]; ok {
			return true
		}
	}
	return false
}
