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
	errKeyMismatch = errors.New("the API key's secret does not fit its id")
	errKeyExpired  = errors.New("the API key has expired")
)

// VerifyKey returns the principal of a raw API key. Errors are those of Verify: a refused key
// looks like a refused token.
//
// A malformed key is refused without a look-up; the time it takes tells only what the key
// itself shows. A well-formed key costs the same hashes, known or not.
func (a *Authenticator) VerifyKey(ctx context.Context, raw string) (resources.Principal, error) {
	if strings.TrimSpace(raw) == "" {
		return resources.Principal{}, absent()
	}
	id, ok := resources.ParseAPIKey(raw)
	if !ok {
		return resources.Principal{}, refused(errAPIKeyForm)
	}
	if a.apiKeys.IsZero() {
		return resources.Principal{}, refused(errKeysOff)
	}
	identity, exists, err := a.directory.IdentifyKey(ctx, id)
	if err != nil {
		return resources.Principal{}, unavailable(err)
	}
	hash := identity.Key.Hash
	if !exists {
		hash = make([]byte, sha256.Size) // matches no key, and takes as long
	}
	match := a.apiKeys.Match(raw, hash)
	now := resources.At(a.now())
	owner := identity.Owner
	switch {
	case !exists:
		return resources.Principal{}, refusedf("%s: %w", id, errNoSuchKey)
	case !match:
		return resources.Principal{}, refusedf("%s: %w", id, errKeyMismatch)
	case identity.Key.ExpiresAt != 0 && now >= identity.Key.ExpiresAt:
		return resources.Principal{}, refusedf("%s: %w", id, errKeyExpired)
	case owner.Status != resources.StatusActive:
		return resources.Principal{}, refusedf("%s: %w", id, errInactiveUser)
	case identity.Key.ID != id, owner.AccountID == "", owner.ID == "", strings.HasPrefix(owner.ID, resources.ServicePrefix):
		return resources.Principal{}, refusedf("%s: %w", id, errBlankRecord)
	}
	if a.used != nil {
		a.used(id, now)
	}
	return resources.Principal{
		Kind:       resources.PrincipalUser,
		ID:         owner.ID,
		UUID:       owner.UUID,
		AccountID:  owner.AccountID,
		Credential: resources.CredentialKey,
		KeyScopes:  slices.Clone(identity.Key.Scopes),
		KeyID:      id,
	}, nil
}
