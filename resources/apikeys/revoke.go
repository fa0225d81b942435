package apikeys

import (
	"context"
	"errors"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// revokedBody is the data of api_key.revoke.
type revokedBody struct {
	Message string `json:"message"`
}

// revokeKey answers api_key.revoke (E15). A repeat changes nothing and commits too, so its response
// comes when the revocation is in force on every replica.
func (s *Service) revokeKey(ctx context.Context, r *wire.Request) (wire.Response, error) {
	if err := r.Bare(); err != nil {
		return wire.Response{}, err
	}
	p := placeOf(r)
	err := store.CommitNotFound(ctx, s.Store, func(tx store.Tx) error {
		if _, err := tx.Bump(ctx, p.account); err != nil {
			return err
		}
		if err := s.authorize(ctx, tx, r, actionDelete); err != nil {
			return err
		}
		rec, err := s.c.APIKeys.Get(ctx, tx, r.Params["id"])
		if errors.Is(err, store.ErrNotFound) || err == nil && (rec.Value.AccountID != p.account || rec.Value.UserID != p.user) {
			return resources.NotFound(wire.NounAPIKey)
		}
		if err != nil || rec.Value.RevokedAt != 0 {
			return err
		}
		rec.Value.RevokedAt = s.now()
		return s.c.APIKeys.Replace(ctx, tx, rec)
	})
	return wire.Answer(bodyOf(revokedBody{Message: "The API key is revoked."}), err)
}
