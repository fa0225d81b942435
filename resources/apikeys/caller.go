package apikeys

import (
	"context"
	"errors"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// Actions on the keys of other users, as the catalogue names them.
const (
	actionRead   = "account:api_key:read"
	actionDelete = "account:api_key:delete"
)

// isOwn says whether the path names the caller.
func isOwn(r *wire.Request) bool {
	return r.Principal.Kind == resources.PrincipalUser && r.Principal.ID != "" && r.Principal.ID == r.Params["user_id"]
}

// authorize refuses a caller who may not do the action on the keys of the user in the path, decided
// on the facts of the snapshot. Users may do it on their own keys; for the keys of another user
// they need the action, and the user must be a member of the account.
func (s *Service) authorize(ctx context.Context, tx store.Tx, r *wire.Request, action string) error {
	if r.Principal.Kind != resources.PrincipalUser {
		return resources.Denied(resources.ReasonNotOwn)
	}
	p := placeOf(r)
	facts, err := s.c.LoadCaller(ctx, tx, p.account, r.Principal, s.now())
	if err != nil || isOwn(r) {
		return err
	}
	parsed, err := resources.ParseAction(action)
	if err != nil {
		return err
	}
	decision, err := s.Judge(ctx, resources.Question{
		Principal: r.Principal, Action: parsed, AccountID: p.account, Facts: facts, Now: s.now(),
		Target: resources.Target{AccountID: p.account, UserID: p.user},
	})
	if err != nil {
		return err
	}
	if !decision.Allowed {
		return resources.Denied(decision.Reason)
	}
	return s.checkMember(ctx, tx, p)
}

// checkMember refuses a user who is not a member of the account, with 404.
func (s *Service) checkMember(ctx context.Context, tx store.Tx, p keyOwner) error {
	rec, err := s.c.Users.Get(ctx, tx, p.user)
	if errors.Is(err, store.ErrNotFound) || err == nil && rec.Value.AccountID != p.account {
		return resources.NotFound("user")
	}
	return err
}
