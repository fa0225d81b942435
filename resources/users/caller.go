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

// syncs says whether the caller is the service that keeps users in step with an
// identity provider.
func syncs(p resources.Principal) bool { return p.HasScope(resources.ServiceScopeUsers) }

// isSelf says whether the id in the path is the caller's own, in either of its forms.
func isSelf(p resources.Principal, id string) bool {
	return p.Kind == resources.PrincipalUser && id != "" && (id == p.ID || id == p.UUID)
}

// ask asks policy again, on the facts of this transaction, whether the caller may do
// the action in the account. A service's rights are in its token.
func (s *Service) ask(
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
	return s.Judge.Decide(ctx, resources.Question{
		Principal: p, Action: parsed, AccountID: account, Facts: facts, Now: s.now(),
		Target: resources.Target{AccountID: account},
	})
}

// stillMay is ask where a no is the end.
func (s *Service) stillMay(ctx context.Context, tx store.Tx, p resources.Principal, account, action string) error {
	decision, err := s.ask(ctx, tx, p, account, action)
	if err == nil && !decision.Allowed {
		return resources.Denied(decision.Reason)
	}
	return err
}

// own refuses a caller who does not act on themselves, through a credential that is still
// valid and has that scope.
func (s *Service) own(ctx context.Context, tx store.Tx, r *wire.Request, account, id, scope string) error {
	p := r.Principal
	if !isSelf(p, id) || p.Credential == resources.CredentialKey && !slices.Contains(p.KeyScopes, scope) {
		return resources.Denied(resources.ReasonNotOwn)
	}
	_, err := s.c.LoadCaller(ctx, tx, account, p, s.now())
	return err
}
