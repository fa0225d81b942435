package bundles

import (
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"

	"github.com/open-policy-agent/opa/v1/bundle"
)

// keyID names the one key; the name that a signature gives is not asked.
const keyID = "policy-bundle-key"

// Key is the public key that signatures of bundles are checked with.
type Key struct {
	config bundle.KeyConfig
}

// errKey says what a key has to be.
var errKey = errors.New("must be the public key of the bundle's signatures in PEM, RSA or ECDSA: openssl pkey -in key.pem -pubout makes it of the private one")

// ReadKey reads a public key or a certificate in PEM. The key says the algorithm: RS256, ES256, ES384 or ES512.
func ReadKey(text []byte) (*Key, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errKey
	}
	var public any
	var err error
	switch block.Type {
	case "PUBLIC KEY":
		public, err = x509.ParsePKIXPublicKey(block.Bytes)
	case "RSA PUBLIC KEY":
		public, err = x509.ParsePKCS1PublicKey(block.Bytes)
	case "CERTIFICATE":
		var certificate *x509.Certificate
		if certificate, err = x509.ParseCertificate(block.Bytes); err == nil {
			public = certificate.PublicKey
		}
	}
	if err != nil {
		return nil, errors.Join(errKey, err)
	}
	algorithm := algorithmOf(public)
	if algorithm == "" {
		return nil, errKey
	}
	return &Key{bundle.KeyConfig{Key: string(pem.EncodeToMemory(block)), Algorithm: algorithm}}, nil
}

// algorithmOf returns "" for a key with which no signature is checked.
func algorithmOf(public any) string {
	switch key := public.(type) {
	case *rsa.PublicKey:
		if key.N.BitLen() >= 2048 {
			return "RS256"
		}
	case *ecdsa.PublicKey:
		return map[int]string{256: "ES256", 384: "ES384", 521: "ES512"}[key.Curve.Params().BitSize]
	}
	return ""
}

// verification returns nil where there is no key.
func (k *Key) verification() *bundle.VerificationConfig {
	if k == nil {
		return nil
	}
	return bundle.NewVerificationConfig(map[string]*bundle.KeyConfig{keyID: &k.config}, keyID, "", nil)
}
