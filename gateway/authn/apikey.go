package authn

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

var (
	errAPIKeyForm  = errors.New("the API key is malformed")
	errKeysOff     = errors.New("API keys are not accepted here")
	errNoSuchKey   = errors.New("no API key in use has this id")
	errKeyMismatch = errors.New("the API key's secret is not the one of its id")
	errKeyExpired  = errors.New("the API key has ended")
)

// KeyIdentity is what the directory knows of a key that was not revoked.
type KeyIdentity struct {
	// Owner is the user as they are now; their account is the key's.
	Owner Identity
	// Key has the hash, the scopes and the end. It is not changed here.
	Key resources.KeyFact
}

// KeyDirectory finds API keys.
type KeyDirectory interface {
	// ByKeyID finds the key by the id of its record; false where there is none and where
	// it was revoked, as of the moment of the call. An error means that it could not be
	// found out, and refuses nobody.
	ByKeyID(ctx context.Context, id string) (KeyIdentity, bool, error)
}

// VerifyKey says whose the raw API key is. Errors as in Verify: whatever is wrong with
// a key, the answer is that of a refused token.
//
// A malformed key is refused without a look-up, which anybody can foretell from the key
// alone. Whatever has the form costs the same hashes, known or not.
func (a *Authenticator) VerifyKey(ctx context.Context, raw string) (resources.Principal, error) {
	if strings.TrimSpace(raw) == "" {
		return resources.Principal{}, absent()
	}
	id, ok := resources.ParseAPIKey(raw)
	if !ok {
		return resources.Principal{}, refused(errAPIKeyForm)
	}
	if a.keys == nil {
		return resources.Principal{}, refused(errKeysOff)
	}
	known, found, err := a.keys.ByKeyID(ctx, id)
	if err != nil {
		return resources.Principal{}, unavailable(err)
	}
	hash := known.Key.Hash
	if !found {
		hash = make([]byte, sha256.Size) // matches nothing, in the same time
	}
	match := a.apiKeys.Match(raw, hash)
	now := resources.At(a.now())
	owner := known.Owner
	switch {
	case !found:
		return resources.Principal{}, refusedf("%s: %w", id, errNoSuchKey)
	case !match:
		return resources.Principal{}, refusedf("%s: %w", id, errKeyMismatch)
	case known.Key.ExpiresAt != 0 && now >= known.Key.ExpiresAt:
		return resources.Principal{}, refusedf("%s: %w", id, errKeyExpired)
	case owner.Status != resources.StatusActive:
		return resources.Principal{}, refusedf("%s: %w", id, errInactiveUser)
	case known.Key.ID != id, owner.AccountID == "", owner.ExternalID == "", strings.HasPrefix(owner.ExternalID, resources.ServicePrefix):
		return resources.Principal{}, refusedf("%s: %w", id, errBlankRecord)
	}
	if a.used != nil {
		a.used(id, now)
	}
	return resources.Principal{
		Kind:       resources.PrincipalUser,
		ID:         owner.ExternalID,
		UUID:       owner.UUID,
		AccountID:  owner.AccountID,
		Credential: resources.CredentialKey,
		KeyScopes:  slices.Clone(known.Key.Scopes),
		KeyID:      id,
	}, nil
}
