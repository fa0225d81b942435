package authn

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"
)

// StrictObject is strictObject.
func StrictObject(raw []byte) (map[string]jsontext.Value, error) { return strictObject(raw) }

// Remembered is how many tokens are remembered now.
func (a *Authenticator) Remembered() int {
	a.memory.mu.Lock()
	defer a.memory.mu.Unlock()
	return len(a.memory.young) + len(a.memory.old)
}

// Vouched is what is known of the token once it was accepted, nil where nothing is kept.
// It is the same value for as long as the signature is not checked again.
func (a *Authenticator) Vouched(token string) any {
	if _, err := a.Claims(context.Background(), token); err != nil {
		return nil
	}
	if known := a.memory.get(a.memory.name(token)); known != nil {
		return known
	}
	return nil
}
