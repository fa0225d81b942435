package authn

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
)

// publicJWK is an Ed25519 public key as a JWK (RFC 8037). It has no field for a private part.
type publicJWK struct {
	Kty string `json:"kty"`
	Crv string `json:"crv"`
	Kid string `json:"kid"`
	Use string `json:"use"`
	Alg string `json:"alg"`
	X   string `json:"x"`
}

func newPublicJWK(public ed25519.PublicKey) publicJWK {
	x := base64.RawURLEncoding.EncodeToString(public)
	// RFC 7638: the required members, in this order, without white space.
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + x + `"}`))
	return publicJWK{
		Kty: "OKP",
		Crv: "Ed25519",
		Kid: base64.RawURLEncoding.EncodeToString(sum[:]),
		Use: "sig",
		Alg: algEdDSA,
		X:   x,
	}
}

// KeyID returns the kid of an Ed25519 key, its thumbprint (RFC 7638).
func KeyID(public ed25519.PublicKey) string { return newPublicJWK(public).Kid }

// EncodeJWKS returns the keys as a JWK set (RFC 7517).
func EncodeJWKS(keys ...ed25519.PublicKey) []byte {
	set := make([]publicJWK, len(keys))
	for i, key := range keys {
		set[i] = newPublicJWK(key)
	}
	out, err := json.Marshal(struct {
		Keys []publicJWK `json:"keys"`
	}{set})
	if err != nil {
		panic("authn: a structure of strings can't be encoded: " + err.Error())
	}
	return out
}

// JWKS returns the JWK set for /.well-known/jwks.json. The caller owns it.
func (s *Signer) JWKS() []byte { return slices.Clone(s.jwks) }

// Keys implements KeySource.
func (s *Signer) Keys(context.Context, bool) (KeySet, error) { return s.set, nil }
