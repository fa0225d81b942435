package authn

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

var (
	errServiceRefused = errors.New("the issuer's tokens must not be a service's")
	errServiceActor   = errors.New("an actor has no ceiling with a service, and the token is a service's")
	errSubjectForm    = errors.New("the subject is malformed")
	errUnknownUser    = errors.New("no user has this subject")
	errInactiveUser   = errors.New("the user is not active")
	errBlankRecord    = errors.New("the user's record is incomplete")
	errUnknownAgent   = errors.New("no user has this subject, and no agent of the account this client")
	errInactiveAgent  = errors.New("the agent is not active")
)

// Directory finds users, agents and API keys as of the call. Each method returns false for an unknown one, and for a
// revoked key. An error is a failure of the look-up, not a refusal.
type Directory interface {
	// Identify finds the one user with the subject, byte for byte, as external id, as partner id, or as either.
	Identify(ctx context.Context, subject string, byExternal, byPartner bool) (resources.Identity, bool, error)
	// AgentOf finds the agent of the account with the client.
	AgentOf(ctx context.Context, account string, client resources.AgentClient) (resources.Identity, bool, error)
	// IdentifyKey finds the key by the id of its record.
	IdentifyKey(ctx context.Context, keyID string) (resources.KeyIdentity, bool, error)
}

// Principal returns the principal of checked claims. Errors are those of Verify.
func (a *Authenticator) Principal(ctx context.Context, claims Claims) (resources.Principal, error) {
	issuer := a.issuers[claims.Issuer]
	if issuer == nil {
		return resources.Principal{}, refused(errUnknownIssuer)
	}
	if strings.HasPrefix(claims.Subject, resources.ServicePrefix) {
		return service(issuer, claims)
	}
	return a.user(ctx, issuer, claims)
}

// service returns the service of the token, with those of its scopes that the issuer may grant.
func service(issuer *trusted, claims Claims) (resources.Principal, error) {
	if !issuer.Services.Allowed {
		return resources.Principal{}, refusedf("issuer %q: %w", issuer.Issuer.Issuer, errServiceRefused)
	}
	if !resources.ValidID(claims.Subject) || claims.Subject == resources.ServicePrefix {
		return resources.Principal{}, refused(errSubjectForm)
	}
	granted := []string{}
	for _, scope := range issuer.Services.Scopes {
		if slices.Contains(claims.Scope, scope) {
			granted = append(granted, scope)
		}
	}
	return resources.Principal{
		Kind:       resources.PrincipalService,
		ID:         claims.Subject,
		Scopes:     granted,
		Credential: resources.CredentialToken,
	}, nil
}

// user returns the token's active user; a first sign-in may create it.
func (a *Authenticator) user(ctx context.Context, issuer *trusted, claims Claims) (resources.Principal, error) {
	identity, ok, err := a.find(ctx, claims.Subject, issuer.Subjects)
	if err == nil && !ok {
		identity, ok, err = a.firstSignIn(ctx, issuer, claims)
	}
	if err != nil {
		return resources.Principal{}, unavailable(err)
	}
	switch {
	case !ok:
		return resources.Principal{}, refused(errUnknownUser)
	case identity.Status != resources.StatusActive:
		return resources.Principal{}, refused(errInactiveUser)
	case identity.ID == "" || strings.HasPrefix(identity.ID, resources.ServicePrefix):
		return resources.Principal{}, refused(errBlankRecord)
	}
	return resources.Principal{
		Kind:       resources.PrincipalUser,
		ID:         identity.ID,
		UUID:       identity.UUID,
		AccountID:  identity.AccountID,
		Credential: resources.CredentialToken,
	}, nil
}

// agent returns the account's active agent whose client the token is issued to, for no user: the subject is the client. A
// user with this name in any form is before the agent, also one whom the issuer may not name.
func (a *Authenticator) agent(ctx context.Context, account string, v *verified) (resources.Principal, error) {
	if c := v.client; len(c.Actors) > 0 || c.Own || c.ID != v.claims.Subject {
		return resources.Principal{}, refused(errUnknownUser)
	}
	_, isUser, err := a.find(ctx, v.claims.Subject, SubjectsBoth)
	if err != nil {
		return resources.Principal{}, unavailable(err)
	}
	if isUser {
		return resources.Principal{}, refused(errUnknownUser)
	}
	identity, ok, err := a.directory.AgentOf(ctx, account, resources.AgentClient{Issuer: v.claims.Issuer, ClientID: v.client.ID})
	switch {
	case err != nil:
		return resources.Principal{}, unavailable(err)
	case !ok || identity.ID == "":
		return resources.Principal{}, refused(errUnknownAgent)
	case identity.Status != resources.StatusActive:
		return resources.Principal{}, refused(errInactiveAgent)
	}
	return resources.Principal{
		Kind: resources.PrincipalAgent, ID: identity.ID, AccountID: account, Credential: resources.CredentialToken,
	}, nil
}

// find finds the user with the subject, which may be the given kinds of id.
func (a *Authenticator) find(ctx context.Context, subject string, kinds Subjects) (resources.Identity, bool, error) {
	return a.directory.Identify(ctx, subject, kinds != SubjectsPartnerID, kinds != SubjectsExternalID)
}

// firstSignIn gives an unknown subject to the invited user with the same e-mail address, if the
// issuer's subjects may be partner ids and the address is verified (API contract, 2).
func (a *Authenticator) firstSignIn(ctx context.Context, issuer *trusted, claims Claims) (resources.Identity, bool, error) {
	if a.signIn == nil || issuer.Subjects == SubjectsExternalID || !claims.EmailVerified || claims.Email == "" {
		return resources.Identity{}, false, nil
	}
	done, err := a.signIn(ctx, claims.Subject, claims.Email)
	if err != nil || !done {
		return resources.Identity{}, false, err
	}
	return a.find(ctx, claims.Subject, issuer.Subjects)
}

// unavailable returns the directory's own KindUnavailable, which may say when to retry, or
// makes one of its error.
func unavailable(err error) error {
	if domain := resources.AsError(err); domain.Kind == resources.KindUnavailable {
		return domain
	}
	return resources.Unavailable("The user directory can't be reached.", err)
}
