package authn

import (
	"context"
	"crypto"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxKeySetSize is the longest JWK set that is read, in bytes.
const maxKeySetSize = 1 << 20

var (
	errKeySetSize   = errors.New("the key set is longer than 1 MiB")
	errKeySetForm   = errors.New(`the key set is not a JSON object with a list "keys"`)
	errUnknownKey   = errors.New("the issuer has no key of this kid and algorithm")
	errManyKeys     = errors.New("several keys of the issuer fit the token's kid and algorithm")
	errSymmetricKey = errors.New("the key set has a symmetric key (kty oct), which signs tokens as well as it checks them; publish public keys only")
)

// KeySet is the set of public keys that check the tokens of one issuer. It is immutable; the
// zero value has no keys. It is a KeySource of keys that never change.
type KeySet struct {
	keys []verifyKey
	// unusable is one text for each key that was left out. It has the key's position and the
	// reason, and nothing of the key.
	unusable []string
	// symmetric states that a symmetric key was left out.
	symmetric bool
	// exposed states that the document has a private or a symmetric key. Of a private key only
	// the public part is in the set.
	exposed bool
}

// verifyKey is a public key for one algorithm.
type verifyKey struct {
	kid, alg string
	public   crypto.PublicKey
	// der is the key's one encoding, by which keys are compared.
	der string
}

// newVerifyKey returns the key for the algorithm. It fails on a type without a DER encoding.
func newVerifyKey(kid, alg string, public crypto.PublicKey) (verifyKey, error) {
	der, err := x509.MarshalPKIXPublicKey(public)
	return verifyKey{kid: kid, alg: alg, public: public, der: string(der)}, err
}

// same reports whether both are the same key, under any kid.
func (k verifyKey) same(other verifyKey) bool { return k.der != "" && k.der == other.der }

// KeySource has the keys of one issuer. Implementations are safe for concurrent use.
type KeySource interface {
	// Keys returns the keys in use. missing means that the caller did not find its key, and lets the source look for
	// new ones. Keys returns an error of the context as it is. Any other error means that no key can be trusted now.
	Keys(ctx context.Context, missing bool) (KeySet, error)
}

// ParseKeySet reads a configured JWK set (RFC 7517). It refuses a malformed set, a set with a symmetric key, and a set
// without a usable key.
func ParseKeySet(raw []byte) (KeySet, error) {
	set, err := readKeySet(raw)
	if err != nil {
		return KeySet{}, err
	}
	if set.symmetric {
		return KeySet{}, errSymmetricKey
	}
	if set.Len() == 0 {
		return KeySet{}, fmt.Errorf("the key set has no usable key: %s", set.report())
	}
	return set, nil
}

// readKeySet reads a JWK set and leaves out its unusable keys.
func readKeySet(raw []byte) (KeySet, error) {
	if len(raw) > maxKeySetSize {
		return KeySet{}, errKeySetSize
	}
	members, err := strictObject(raw)
	if err != nil {
		return KeySet{}, joined(errKeySetForm, err)
	}
	var list []jsontext.Value
	if err := json.Unmarshal(members["keys"], &list); err != nil || list == nil {
		return KeySet{}, errKeySetForm
	}
	set := KeySet{}
	for i, one := range list {
		if err := set.add(one); err != nil {
			set.unusable = append(set.unusable, fmt.Sprintf("keys[%d]: %v", i, err))
			set.symmetric = set.symmetric || errors.Is(err, errSymmetricKey)
		}
	}
	return set, nil
}

// add reads one JWK into the set.
func (s *KeySet) add(raw []byte) error {
	members, err := strictObject(raw)
	if err != nil {
		return errKeyForm
	}
	s.exposed = s.exposed || hasPrivatePart(members)
	keys, err := readKey(members)
	s.keys = append(s.keys, keys...)
	return err
}

// Len returns the number of pairs of a key and an algorithm: an RSA key without an algorithm
// counts twice.
func (s KeySet) Len() int { return len(s.keys) }

// Keys implements KeySource.
func (s KeySet) Keys(context.Context, bool) (KeySet, error) { return s, nil }

func (s KeySet) report() string {
	if len(s.unusable) == 0 {
		return "it is empty"
	}
	return strings.Join(s.unusable, "; ")
}

// find returns the one key for the algorithm and kid. Two different matches are an error, so that their order in the
// document does not decide.
func (s KeySet) find(h header) (verifyKey, error) {
	var match verifyKey
	for _, key := range s.keys {
		if key.alg != h.alg || h.kid != "" && key.kid != h.kid {
			continue
		}
		if match.public != nil && !match.same(key) {
			return verifyKey{}, errManyKeys
		}
		match = key
	}
	if match.public == nil {
		return verifyKey{}, errUnknownKey
	}
	return match, nil
}
