package apikeys

import (
	"context"
	"errors"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// listedKey is a key as api_key.list shows it.
type listedKey struct {
	ID         string         `json:"id"`
	Name       string         `json:"key_name"`
	Masked     string         `json:"masked_key"`
	Scopes     []string       `json:"scopes"`
	IsActive   bool           `json:"is_active"`
	LastUsedAt resources.Time `json:"last_used_at,omitzero"`
	CreatedAt  resources.Time `json:"created_at"`
	ExpiresAt  resources.Time `json:"expires_at,omitzero"`
}

// keyList is the data of api_key.list.
type keyList struct {
	Keys []listedKey `json:"keys"`
}

// listKeys answers api_key.list (E14): all of the user's keys in the account, newest first.
func (s *Service) listKeys(ctx context.Context, r *wire.Request) (wire.Response, error) {
	if err := r.Bare(); err != nil {
		return wire.Response{}, err
	}
	var out []listedKey
	err := s.Store.View(ctx, func(tx store.Tx) error {
		if err := s.authorize(ctx, tx, r, actionRead); err != nil {
			return err
		}
		recs, err := s.c.APIKeys.Find(ctx, tx, keysOf(placeOf(r)))
		if err != nil {
			return err
		}
		out = make([]listedKey, len(recs))
		for i, rec := range recs {
			if out[i], err = s.listed(ctx, tx, rec.Value); err != nil {
				return err
			}
		}
		return nil
	})
	return wire.Answer(bodyOf(keyList{Keys: out}), err)
}

// Shown returns a key as change records show it at that time, without its last use.
func Shown(k resources.APIKey, now resources.Time) any {
	return listedKey{
		ID: k.ID, Name: k.Name, Masked: k.Masked(), Scopes: k.Scopes, IsActive: k.Active(now), CreatedAt: k.CreatedAt, ExpiresAt: k.ExpiresAt,
	}
}

// listed returns the key as api_key.list shows it, with its last use.
func (s *Service) listed(ctx context.Context, tx store.Tx, k resources.APIKey) (listedKey, error) {
	use, err := s.c.KeyUses.Get(ctx, tx, k.ID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return listedKey{}, err
	}
	return listedKey{
		ID: k.ID, Name: k.Name, Masked: k.Masked(), Scopes: k.Scopes, IsActive: k.Active(s.now()),
		LastUsedAt: use.Value.LastUsedAt, CreatedAt: k.CreatedAt, ExpiresAt: k.ExpiresAt,
	}, nil
}
