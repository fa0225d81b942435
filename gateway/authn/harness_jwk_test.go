package authn_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"math/big"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/test/must"
)

// jwk writes a key as a JWK (RFC 7518, 6; RFC 8037, 2): a public, a private or a symmetric one.
func jwk(kid, alg, use string, key any) object {
	var out object
	switch k := key.(type) {
	case ed25519.PublicKey:
		out = object{"kty": "OKP", "crv": "Ed25519", "x": b64(k)}
	case ed25519.PrivateKey:
		out = jwk("", "", "", k.Public()).merged(object{"d": b64(k.Seed())})
	case *ecdsa.PublicKey:
		size := (k.Params().BitSize + 7) / 8
		point, err := k.Bytes()
		if err != nil {
			panic(err)
		}
		out = object{"kty": "EC", "crv": k.Params().Name, "x": b64(point[1 : 1+size]), "y": b64(point[1+size:])}
	case *ecdsa.PrivateKey:
		secret, err := k.Bytes()
		if err != nil {
			panic(err)
		}
		out = jwk("", "", "", k.Public()).merged(object{"d": b64(secret)})
	case *rsa.PublicKey:
		out = object{"kty": "RSA", "n": b64(k.N.Bytes()), "e": b64(big.NewInt(int64(k.E)).Bytes())}
	case *rsa.PrivateKey:
		out = jwk("", "", "", k.Public()).merged(object{"d": b64(k.D.Bytes()), "p": b64(k.Primes[0].Bytes()), "q": b64(k.Primes[1].Bytes())})
	case []byte:
		out = object{"kty": "oct", "k": b64(k)}
	default:
		panic(fmt.Sprintf("no key: %T", key))
	}
	for name, value := range map[string]string{"kid": kid, "alg": alg, "use": use} {
		if value != "" {
			out[name] = value
		}
	}
	return out
}

func jwks(t testing.TB, list ...object) []byte {
	t.Helper()
	return must.Get(json.Marshal(map[string][]object{"keys": list}))(t)
}

func keySet(t testing.TB, list ...object) authn.KeySet {
	t.Helper()
	return must.Get(authn.ParseKeySet(jwks(t, list...)))(t)
}

// standardKeys is one key of each type.
func standardKeys() []object {
	k := testKeys()
	return []object{
		jwk("ed", "EdDSA", "sig", k.ed.Public()),
		jwk("es", "ES256", "sig", k.es.Public()),
		jwk("rs", "", "", k.rs.Public()),
	}
}
