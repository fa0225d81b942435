package users

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// updateProfile answers user_profile.update (E9): it changes the caller's own name.
func (s *Service) updateProfile(ctx context.Context, r *wire.Request) (wire.Response, error) {
	account := r.Params["account_id"]
	if !isSelf(r.Principal, r.Params["user_id"]) {
		return wire.Response{}, resources.Denied(resources.ReasonNotOwn)
	}
	name, err := readProfile(r)
	if err != nil {
		return wire.Response{}, err
	}
	var rec userRow
	err = s.Store.Transact(ctx, func(tx store.Tx) error {
		if err := store.BumpAll(ctx, tx, account); err != nil {
			return err
		}
		err := s.authorizeSelf(ctx, tx, r, account, r.Params["user_id"], resources.KeyScopeWrite)
		if err != nil {
			return err
		}
		if rec, err = s.c.Users.Get(ctx, tx, r.Principal.ID); err != nil {
			return err
		}
		rec.Value.Name, rec.Value.UpdatedAt = name, s.now()
		return s.c.Users.Replace(ctx, tx, rec)
	})
	return wire.Answer(profileBody{rec.Value.Profile(), account}, err)
}

// readProfile reads the name in the body of user_profile.update and trims it.
func readProfile(r *wire.Request) (string, error) {
	var p wire.Problems
	r.ParseQuery(&p).Done()
	body := r.ParseObject(&p)
	name := readName(body)
	if !body.Has("name") {
		body.Add("name", "is missing")
	}
	body.Done()
	if err := p.Err(); err != nil {
		return "", err
	}
	return *name, nil
}
