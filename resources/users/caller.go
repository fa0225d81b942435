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

// Policy's words for what is somebody else's, and for a service without the scope.
const (
	notOwn  = "this is not the caller's"
	noScope = "no scope of the service allows this"
)

// denied is the answer of a gateway whose policy says no, so that it does not show where
// it was said.
func denied(reason string) error {
	return &resources.Error{
		Kind: resources.KindForbidden, Message: "You may not do this.", Problems: []resources.Problem{{Text: reason}},
	}
}

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
	if p.Kind != resources.PrincipalUser {
		return resources.Decision{Allowed: syncs(p), Reason: noScope}, nil
	}
	facts, err := s.c.LoadFacts(ctx, tx, account, p.ID, "")
	if err != nil {
		return resources.Decision{}, err
	}
	parsed, err := resources.ParseAction(action)
	if err != nil {
		return resources.Decision{}, err
	}
	decision, err := s.Judge.Decide(ctx, resources.Question{
		Principal: p, Action: parsed, AccountID: account, Facts: facts, Now: s.now(),
		Target: resources.Target{AccountID: account},
	})
	if err != nil || !decision.Allowed {
		return resources.Decision{Reason: decision.Reason}, err
	}
	if !keyInForce(facts.Subject, p) {
		return resources.Decision{Reason: notOwn}, nil
	}
	return decision, nil
}

// stillMay is ask where a no is the end.
func (s *Service) stillMay(ctx context.Context, tx store.Tx, p resources.Principal, account, action string) error {
	decision, err := s.ask(ctx, tx, p, account, action)
	if err == nil && !decision.Allowed {
		return denied(decision.Reason)
	}
	return err
}

// own refuses who is not, or is not any more, an active member of the active account
// acting on themselves, through a credential with that scope.
func (s *Service) own(ctx context.Context, tx store.Tx, r *wire.Request, account, id, scope string) error {
	p := r.Principal
	if !isSelf(p, id) || p.Credential == resources.CredentialKey && !slices.Contains(p.KeyScopes, scope) {
		return denied(notOwn)
	}
	facts, err := s.c.LoadFacts(ctx, tx, account, p.ID, "")
	if err != nil {
		return err
	}
	f := facts.Subject
	if !f.Member || f.UserStatus != resources.StatusActive || f.AccountStatus != resources.StatusActive || !keyInForce(f, p) {
		return denied(notOwn)
	}
	return nil
}

// keyInForce says whether the API key that the caller came with, if it was one, was not
// revoked on the way.
func keyInForce(s *resources.Subject, p resources.Principal) bool {
	return p.Credential != resources.CredentialKey ||
		slices.ContainsFunc(s.Keys, func(k resources.KeyFact) bool { return k.ID == p.KeyID })
}
