package apikeys

import (
	"context"
	"errors"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

const (
	// maxActive bounds a user's keys that can be used (API contract, E13).
	maxActive = 50
	// maxKept bounds all of a user's keys.
	maxKept = 1000
	// maxName bounds a key's name in characters.
	maxName = 100
	// maxScopes bounds the scopes that are looked at: more than there are, so that what is
	// wrong with a few is told.
	maxScopes = 10
)

// createdKey is the one answer that holds a raw key.
type createdKey struct {
	ID        string         `json:"id"`
	Name      string         `json:"key_name"`
	Raw       string         `json:"raw_key"`
	Scopes    []string       `json:"scopes"`
	CreatedAt resources.Time `json:"created_at"`
	ExpiresAt resources.Time `json:"expires_at,omitzero"`
}

// creating reads api_key.create's request and gives what is to be committed. The key is made here,
// once, however often the transaction runs.
func (s *Service) creating(_ context.Context, r *wire.Request) (idempotency.Commit, error) {
	// Another key would outlive the revocation of the one that made it.
	if !isOwn(r) || r.Principal.Credential != resources.CredentialToken {
		return nil, resources.Denied(resources.ReasonNotOwn)
	}
	now, p := s.now(), placeOf(r)
	key, err := readKey(r, now)
	if err != nil {
		return nil, err
	}
	raw, id := s.Keys.New(s.IDs)
	key.ID, key.AccountID, key.UserID, key.CreatedAt = id, p.account, p.user, now
	key.Hash, key.Last4 = s.Keys.Hash(raw), raw[len(raw)-4:]
	answer := createdKey{
		ID: key.ID, Name: key.Name, Raw: raw, Scopes: key.Scopes, CreatedAt: key.CreatedAt, ExpiresAt: key.ExpiresAt,
	}
	return func(ctx context.Context, tx store.Tx) (wire.Response, error) {
		if err := s.add(ctx, tx, r.Principal, key); err != nil {
			return wire.Response{}, err
		}
		return wire.Response{Status: 201, Body: bodyOf(answer), ShownOnce: key.ID}, nil
	}, nil
}

// add stores the key, unless its owner has as many as they may have.
func (s *Service) add(ctx context.Context, tx store.Tx, caller resources.Principal, key resources.APIKey) error {
	if _, err := tx.Bump(ctx, key.AccountID); err != nil {
		return err
	}
	if _, err := s.c.LoadCaller(ctx, tx, key.AccountID, caller, s.now()); err != nil {
		return err
	}
	found, err := s.c.APIKeys.Find(ctx, tx, keysOf(place{key.AccountID, key.UserID}))
	if err != nil {
		return err
	}
	ended := slices.DeleteFunc(slices.Clone(found), func(rec store.Record[resources.APIKey]) bool {
		return rec.Value.Active(key.CreatedAt)
	})
	if active := len(found) - len(ended); active >= maxActive {
		return resources.Conflict("You have %d active API keys, and no more can be made; revoke one that is not needed.", active)
	}
	for n := len(found); n >= maxKept; n-- {
		if err := s.forget(ctx, tx, ended[len(ended)-1]); err != nil {
			return err
		}
		ended = ended[:len(ended)-1]
	}
	return s.c.APIKeys.Insert(ctx, tx, key)
}

// forget removes the record of a key that can't be used any more.
func (s *Service) forget(ctx context.Context, tx store.Tx, key store.Record[resources.APIKey]) error {
	use, err := s.c.KeyUses.Get(ctx, tx, key.Value.ID)
	if err == nil {
		err = s.c.KeyUses.Delete(ctx, tx, use)
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return s.c.APIKeys.Delete(ctx, tx, key)
}

// readKey reads api_key.create's body: 400 with all problems.
func readKey(r *wire.Request, now resources.Time) (resources.APIKey, error) {
	var p wire.Problems
	r.ParseQuery(&p).Done()
	body := r.ParseObject(&p)
	key := resources.APIKey{Name: body.Name("key_name", maxName), Scopes: readScopes(body)}
	if ends, ok := body.Time("expires_at"); ok {
		if ends <= now {
			body.Add("expires_at", "must be in the future")
		}
		key.ExpiresAt = ends
	}
	body.Done()
	return key, p.Err()
}

// readScopes reads a subset of read and write that is not empty.
func readScopes(body *wire.Object) []string {
	scopes, ok := body.Texts("scopes", maxScopes)
	switch {
	case !body.Has("scopes"):
		body.Add("scopes", "is missing; name read, write or both")
	case ok && len(scopes) == 0:
		body.Add("scopes", "must name read, write or both")
	}
	if !ok {
		return nil
	}
	for i, scope := range scopes {
		switch {
		case scope != resources.KeyScopeRead && scope != resources.KeyScopeWrite:
			body.Add("scopes", "must hold nothing but read and write")
			return nil
		case slices.Contains(scopes[:i], scope):
			body.Add("scopes", "must not name %s twice", scope)
			return nil
		}
	}
	return scopes
}
