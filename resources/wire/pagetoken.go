package wire

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"strings"
)

// maxToken bounds what is decoded of a stranger's token.
const maxToken = 4096

// PageTokens seals cursors: a token can be read and made only with the key, and
// only for the list it is bound to.
type PageTokens struct{ aeads []cipher.AEAD }

// NewPageTokens takes 32-byte keys; the first one seals, all of them open.
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

// Open gives the cursor of a token of that list.
func (t PageTokens) Open(token, binding string) ([]byte, bool) {
	if len(token) > maxToken || strings.ContainsAny(token, "\r\n") { // the decoder would skip line breaks
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
