package wire

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"strings"
)

// maxToken bounds a token in characters.
const maxToken = 4096

// PageTokens is the maker and opener of page tokens. A token is a cursor, encrypted and bound to one list.
type PageTokens struct{ aeads []cipher.AEAD }

// NewPageTokens takes keys of 32 bytes. Seal uses the first one, Open all of them.
func NewPageTokens(keys [][]byte) (PageTokens, error) {
	var t PageTokens
	for _, key := range keys {
		block, err := aes.NewCipher(key)
		if err != nil {
			return PageTokens{}, err
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return PageTokens{}, err
		}
		t.aeads = append(t.aeads, aead)
	}
	return t, nil
}

// Seal makes the token of a cursor for the list that binding names: its route,
// account, project and filters.
func (t PageTokens) Seal(cursor []byte, binding string) string {
	sealed := t.aeads[0].Seal(nil, nil, cursor, []byte(binding)) //nolint:gosec // this AEAD makes its own random nonce and takes none
	return base64.RawURLEncoding.EncodeToString(sealed)
}

// Open returns the cursor of a token that Seal made for the same binding.
func (t PageTokens) Open(token, binding string) ([]byte, bool) {
	if len(token) > maxToken || strings.ContainsAny(token, "\r\n") { // the decoder skips line breaks
		return nil, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil {
		return nil, false
	}
	for _, aead := range t.aeads {
		if cursor, err := aead.Open(nil, nil, raw, []byte(binding)); err == nil {
			return cursor, true
		}
	}
	return nil, false
}
