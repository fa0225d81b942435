package resources

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"strings"
)

// Sealer encrypts values of this installation, each bound to its purpose. All replicas open what one has sealed.
type Sealer struct{ aeads []cipher.AEAD }

// NewSealer takes keys of 32 bytes. Seal uses the first one, Open all of them.
func NewSealer(keys [][]byte) (Sealer, error) {
	var s Sealer
	for _, key := range keys {
		block, err := aes.NewCipher(key)
		if err != nil {
			return Sealer{}, err
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return Sealer{}, err
		}
		s.aeads = append(s.aeads, aead)
	}
	return s, nil
}

// Seal encrypts a value, in letters that a URL and a cookie may have.
func (s Sealer) Seal(value []byte, purpose string) string {
	sealed := s.aeads[0].Seal(nil, nil, value, []byte(purpose)) //nolint:gosec // this AEAD makes its own random nonce and takes none
	return base64.RawURLEncoding.EncodeToString(sealed)
}

// Open returns a value of Seal for the same purpose, false for any other text.
func (s Sealer) Open(sealed, purpose string) ([]byte, bool) {
	if strings.ContainsAny(sealed, "\r\n") { // the decoder skips line breaks
		return nil, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(sealed)
	if err != nil {
		return nil, false
	}
	for _, aead := range s.aeads {
		if value, err := aead.Open(nil, nil, raw, []byte(purpose)); err == nil {
			return value, true
		}
	}
	return nil, false
}
