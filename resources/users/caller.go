package users

import (
	"context"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// Actions on users, as the catalogue names them.
const (
	actionUpdate = "account:user:update"
	actionInvite = "account:user:invite"
	actionDelete = "account:user:delete"
)

// syncs says whether the caller is the service that synchronises users with an identity provider.
func syncs(p resources.Principal) bool { return p.HasScope(resources.ServiceScopeUsers) }

// isSelf says whether the id, external id or UUID, is the caller's own.
func isSelf(p resources.Principal, id string) bool {
	return p.Kind == resources.PrincipalUser && id != "" && (id == p.ID || id == p.UUID)
}

// decide checks on the facts of the transaction that the caller's credential is still valid, and
// decides whether they may do the action in the account. Policy is not asked for a service, whose
// permissions are in its token.
func (s *Service) decide(
	ctx context.Context, tx store.Tx, p resources.Principal, account, action string,
) (resources.Decision, error) {
	facts, err := s.c.LoadCaller(ctx, tx, account, p, s.now())
	if err != nil {
		return resources.Decision{}, err
	}
	if p.Kind != resources.PrincipalUser {
		return resources.Decision{Allowed: syncs(p), Reason: resources.ReasonNoServiceScope}, nil
	}
	parsed, err := resources.ParseAction(action)
	if err != nil {
		return resources.Decision{}, err
	}
	return s.Judge(ctx, resources.Question{
		Principal: p, Action: parsed, AccountID: account, Facts: facts, Now: s.now(),
		Target: resources.Target{AccountID: account},
	})
}

// reauthorize refuses a caller whom decide denies the action.
func (s *Service) reauthorize(ctx context.Context, tx store.Tx, p resources.Principal, account, action string) error {
	decision, err := s.decide(ctx, tx, p, account, action)
	if err == nil && !decision.Allowed {
		return resources.Denied(decision.Reason)
	}
	return err
}

// authorizeSelf refuses a caller with another id, a key without the scope, and a credential no
// longer valid.
func (s *Service) authorizeSelf(ctx context.Context, tx store.Tx, r *wire.Request, account, id, scope string) error {
	p := r.Principal
	if !isSelf(p, id) || p.Credential == resources.CredentialKey && !slices.Contains(p.KeyScopes, scope) {
		return resources.Denied(resources.ReasonNotOwn)
	}
	_, err := s.c.LoadCaller(ctx, tx, account, p, s.now())
	return err
}
