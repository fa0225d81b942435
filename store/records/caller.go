package records

import (
	"context"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// LoadCaller is LoadFacts for the caller of a change, inside the change's transaction: the change may have waited since
// the caller was authenticated. It returns FORBIDDEN in three cases. The user is gone, is not ACTIVE or has left the
// account. The API key is gone, revoked, expired or another user's. The account is not ACTIVE. A service's token cannot
// be revoked, so a service stays as it was authenticated.
//
// It stands here because it binds the changes of every area.
func (c Collections) LoadCaller(
	ctx context.Context, tx store.Tx, account string, p resources.Principal, now resources.Time,
) (resources.Facts, error) {
	facts, err := c.LoadFacts(ctx, tx, account, p.ID, "")
	if err == nil {
		err = checkCaller(p, facts.Subject, now)
	}
	if err != nil {
		return resources.Facts{}, err
	}
	return facts, nil
}

func checkCaller(p resources.Principal, s *resources.Subject, now resources.Time) error {
	switch {
	case p.Kind == resources.PrincipalService && p.Credential == resources.CredentialToken:
		return nil
	case p.Kind != resources.PrincipalUser || s.UserStatus != resources.StatusActive || !s.Member:
		return resources.Forbidden("You are not an active member of the account.")
	case !credentialHolds(p, s, now):
		return resources.Forbidden("Your credential is not valid any more.")
	case s.AccountStatus != resources.StatusActive:
		return resources.Forbidden("The account is suspended.")
	}
	return nil
}

// credentialHolds reports whether a member's credential is still valid.
func credentialHolds(p resources.Principal, s *resources.Subject, now resources.Time) bool {
	switch p.Credential {
	case resources.CredentialToken:
		return true
	case resources.CredentialKey:
		return slices.ContainsFunc(s.Keys, func(k resources.KeyFact) bool {
			return k.ID == p.KeyID && (k.ExpiresAt == 0 || now < k.ExpiresAt)
		})
	}
	return false
}
