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
	errUnknownKey   = errors.New("the issuer has no such key for this algorithm")
	errManyKeys     = errors.New("several keys of the issuer fit, and the token does not say which")
	errSymmetricKey = errors.New("the key set has a symmetric key (kty oct): whoever can check a token with it can also make one; publish public keys only")
)

// KeySet are the public keys of one issuer that may check tokens. It is
// immutable; the zero value has none. It is a KeySource by itself: static keys.
type KeySet struct {
	keys []verifyKey
	// unusable says, for the log, what was left out and why; it names positions and types, never keys.
	unusable  []string
	symmetric bool
	// exposed says that the set publishes a private key; only its public part is kept.
	exposed bool
}

// verifyKey is a public key for one algorithm.
type verifyKey struct {
	kid, alg string
	public   crypto.PublicKey
	// der is the key's one encoding: comparing keys themselves is slow for large ones.
	der string
}

// newVerifyKey fails on a type of key that has no encoding.
func newVerifyKey(kid, alg string, public crypto.PublicKey) (verifyKey, error) {
	der, err := x509.MarshalPKIXPublicKey(public)
	return verifyKey{kid: kid, alg: alg, public: public, der: string(der)}, err
}

// same says whether both are one key, whatever it is called.
func (k verifyKey) same(other verifyKey) bool { return k.der != "" && k.der == other.der }

// KeySource gives the keys of one issuer. Implementations are safe for concurrent use.
type KeySource interface {
	// Keys gives the keys as they are known; missing says that the caller did not
	// find the one it needs in them, so that the source may look again. An error of
	// the context is given as it is; any other means that there are no keys to trust.
	Keys(ctx context.Context, missing bool) (KeySet, error)
}

// ParseKeySet reads a JWK set (RFC 7517) that a person configured. It refuses
// one that is malformed, that has a symmetric key, or in which no key is usable.
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

// readKeySet reads a JWK set without its unusable keys.
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

// Len is the number of pairs of key and algorithm: an RSA key that names no
// algorithm counts twice.
func (s KeySet) Len() int { return len(s.keys) }

// Keys implements KeySource.
func (s KeySet) Keys(context.Context, bool) (KeySet, error) { return s, nil }

func (s KeySet) report() string {
	if len(s.unusable) == 0 {
		return "it is empty"
	}
	return strings.Join(s.unusable, "; ")
}

// find gives the one key for the algorithm and kid. Two different keys under one
// name are no answer, since the order in the file must not decide.
func (s KeySet) find(h header) (verifyKey, error) {
	var found verifyKey
	for _, key := range s.keys {
		if key.alg != h.alg || h.kid != "" && key.kid != h.kid {
			continue
		}
		if found.public != nil && !found.same(key) {
			return verifyKey{}, errManyKeys
		}
		found = key
	}
	if found.public == nil {
		return verifyKey{}, errUnknownKey
	}
	return found, nil
}
