package users

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// getProfile answers user_profile.get (E10): the caller's own profile.
func (s *Service) getProfile(ctx context.Context, r *wire.Request) (wire.Response, error) {
	account := r.Params["account_id"]
	if !isSelf(r.Principal, r.Params["user_id"]) {
		return wire.Response{}, resources.Denied(resources.ReasonNotOwn)
	}
	if err := r.Bare(); err != nil {
		return wire.Response{}, err
	}
	var rec userRow
	err := s.Store.View(ctx, func(tx store.Tx) (err error) {
		if err := s.authorizeSelf(ctx, tx, r, account, r.Params["user_id"], resources.KeyScopeRead); err != nil {
			return err
		}
		rec, err = s.c.Users.Get(ctx, tx, r.Principal.ID)
		return err
	})
	return wire.Answer(profileBody{rec.Value.Profile(), account}, err)
}
