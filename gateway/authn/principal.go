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
	errSubjectForm    = errors.New("the subject is malformed")
	errUnknownUser    = errors.New("no user has this subject")
	errInactiveUser   = errors.New("the user is not active")
	errBlankRecord    = errors.New("the user's record is incomplete")
	errUnknownAgent   = errors.New("no user has this subject, and no agent of the account this client")
	errInactiveAgent  = errors.New("the agent is not active")
)

// Identity is a user as the directory knows them.
type Identity struct {
	// ExternalID is the user's public id, UUID the internal one.
	ExternalID, UUID string
	// AccountID is the account that the user is a member of, "" for none.
	AccountID string
	// Status is one of resources.Status…; only resources.StatusActive may sign in.
	Status string
}

// Directory finds users by the subjects of tokens.
type Directory interface {
	// BySubject finds the one user with sub, byte for byte, as external id or partner id; subjects
	// selects one of them. It returns false for an unknown subject. An error is a failure of the
	// look-up, not a refusal.
	BySubject(ctx context.Context, sub string, subjects Subjects) (Identity, bool, error)
	// AgentOf finds the agent of the account with the client; its ExternalID is the agent's id. It returns false for an
	// unknown one. An error is a failure of the look-up.
	AgentOf(ctx context.Context, account string, client resources.AgentClient) (Identity, bool, error)
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
	identity, ok, err := a.directory.BySubject(ctx, claims.Subject, issuer.Subjects)
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
	case identity.ExternalID == "" || strings.HasPrefix(identity.ExternalID, resources.ServicePrefix):
		return resources.Principal{}, refused(errBlankRecord)
	}
	return resources.Principal{
		Kind:       resources.PrincipalUser,
		ID:         identity.ExternalID,
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
	_, isUser, err := a.directory.BySubject(ctx, v.claims.Subject, SubjectsBoth)
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
	case !ok || identity.ExternalID == "":
		return resources.Principal{}, refused(errUnknownAgent)
	case identity.Status != resources.StatusActive:
		return resources.Principal{}, refused(errInactiveAgent)
	}
	return resources.Principal{
		Kind: resources.PrincipalAgent, ID: identity.ExternalID, AccountID: account, Credential: resources.CredentialToken,
	}, nil
}

// firstSignIn gives an unknown subject to the invited user with the same e-mail address, if the
// issuer's subjects may be partner ids and the address is verified (API contract, 2).
func (a *Authenticator) firstSignIn(ctx context.Context, issuer *trusted, claims Claims) (Identity, bool, error) {
	if a.signIn == nil || issuer.Subjects == SubjectsExternalID || !claims.EmailVerified || claims.Email == "" {
		return Identity{}, false, nil
	}
	done, err := a.signIn(ctx, claims.Subject, claims.Email)
	if err != nil || !done {
		return Identity{}, false, err
	}
	return a.directory.BySubject(ctx, claims.Subject, issuer.Subjects)
}

// unavailable returns the directory's own KindUnavailable, which may say when to retry, or
// makes one of its error.
func unavailable(err error) error {
	if domain := resources.AsError(err); domain.Kind == resources.KindUnavailable {
		return domain
	}
	return resources.Unavailable("The user directory can't be reached.", err)
}
