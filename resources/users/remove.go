package users

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// removeMember answers user.remove (N10): it ends the user's membership of the account.
func (s *Service) removeMember(ctx context.Context, r *wire.Request) (wire.Response, error) {
	if err := r.Bare(); err != nil {
		return wire.Response{}, err
	}
	account, id := r.Params["accountId"], r.Params["userId"]
	err := store.CommitNotFound(ctx, s.Store, func(tx store.Tx) error {
		if err := store.BumpAll(ctx, tx, "", account); err != nil {
			return err
		}
		if err := s.mayRemove(ctx, tx, r, account, id); err != nil {
			return err
		}
		rec, err := s.findMember(ctx, tx, account, id)
		if err != nil {
			return err
		}
		if rec == nil {
			return resources.NotFound(nounUser)
		}
		now := s.now()
		change := records.RoleChange{AccountID: account, Caller: r.Principal, Now: now, UserID: rec.Value.ExternalID}
		return s.c.KeepAdmins(ctx, tx, change, func() error {
			if err := s.leave(ctx, tx, &rec.Value, now); err != nil {
				return err
			}
			return s.c.Users.Replace(ctx, tx, *rec)
		})
	})
	return wire.Answer(messageBody{"The user is not a member of the account any more."}, err)
}

// mayRemove refuses a caller who may not remove the user. Users may remove themselves; for other
// users the caller needs the action.
func (s *Service) mayRemove(ctx context.Context, tx store.Tx, r *wire.Request, account, id string) error {
	if isSelf(r.Principal, id) {
		return s.authorizeSelf(ctx, tx, r, account, id, resources.KeyScopeWrite)
	}
	return s.reauthorize(ctx, tx, r.Principal, account, actionDelete)
}
