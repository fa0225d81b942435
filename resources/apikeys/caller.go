package apikeys

import (
	"context"
	"errors"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// The action that reaches the keys of others, and its absence.
const (
	actionRead   = "account:api_key:read"
	actionDelete = "account:api_key:delete"
)

// isOwn says whether the keys are the caller's own.
func isOwn(r *wire.Request) bool {
	return r.Principal.Kind == resources.PrincipalUser && r.Principal.ID != "" && r.Principal.ID == r.Params["user_id"]
}

// reach asks again, on the facts of this snapshot, whether the caller may reach the keys
// in the path: their own, or with the action those of another member, who must be there.
func (s *Service) reach(ctx context.Context, tx store.Tx, r *wire.Request, action string) error {
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
	decision, err := s.Judge.Decide(ctx, resources.Question{
		Principal: r.Principal, Action: parsed, AccountID: p.account, Facts: facts, Now: s.now(),
		Target: resources.Target{AccountID: p.account, UserID: p.user},
	})
	if err != nil {
		return err
	}
	if !decision.Allowed {
		return resources.Denied(decision.Reason)
	}
	return s.isMember(ctx, tx, p)
}

// isMember answers that there is no such user, where they are not the account's.
func (s *Service) isMember(ctx context.Context, tx store.Tx, p place) error {
	rec, err := s.c.Users.Get(ctx, tx, p.user)
	if errors.Is(err, store.ErrNotFound) || err == nil && rec.Value.AccountID != p.account {
		return resources.NotFound("user")
	}
	return err
}
