package authn

import (
	"crypto/sha256"

	"github.com/go-json-experiment/json/jsontext"
)

// StrictObject is strictObject.
func StrictObject(raw []byte) (map[string]jsontext.Value, error) { return strictObject(raw) }

// Cached returns the token's entry in the cache, nil on a miss. It is the same pointer until
// the token is verified again.
func (a *Authenticator) Cached(token string) any {
	if a.tokens == nil {
		return nil
	}
	if entry := a.tokens.Get(sha256.Sum256([]byte(token))); entry != nil {
		return entry
	}
	return nil
}
