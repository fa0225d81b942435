package apikeys

import (
	"context"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

const (
	// maxActive bounds the active keys of a user (API contract, E13).
	maxActive = 50
	// maxKeys bounds all keys of a user.
	maxKeys = 1000
	// maxName bounds a key's name in characters.
	maxName = 100
	// maxScopes bounds the scopes that a request may list. It is greater than their number,
	// so a response can name the wrong one among a few.
	maxScopes = 10
)

// createdKey is the response of api_key.create, the only one that shows the raw key.
type createdKey struct {
	ID        string         `json:"id"`
	Name      string         `json:"key_name"`
	Raw       string         `json:"raw_key"`
	Scopes    []string       `json:"scopes"`
	CreatedAt resources.Time `json:"created_at"`
	ExpiresAt resources.Time `json:"expires_at,omitzero"`
}

// createKey answers api_key.create (E13). It makes the key once, however often the transaction
// runs.
func (s *Service) createKey(_ context.Context, r *wire.Request) (idempotency.Commit, error) {
	// A key that a key has made would outlive the revocation of its maker.
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
	key.Hash, key.MadeWith, key.Last4 = s.Keys.Hash(raw), s.Keys.Fingerprint(), raw[len(raw)-4:]
	created := createdKey{
		ID: key.ID, Name: key.Name, Raw: raw, Scopes: key.Scopes, CreatedAt: key.CreatedAt, ExpiresAt: key.ExpiresAt,
	}
	return func(ctx context.Context, tx store.Tx) (wire.Response, error) {
		if err := s.add(ctx, tx, r.Principal, key); err != nil {
			return wire.Response{}, err
		}
		return wire.Response{Status: 201, Body: bodyOf(created), ShownOnce: key.ID}, nil
	}, nil
}

// add stores the key. It refuses an owner with the greatest number of active keys. It deletes the
// oldest ended keys beyond the bound of all.
func (s *Service) add(ctx context.Context, tx store.Tx, caller resources.Principal, key resources.APIKey) error {
	if _, err := tx.Bump(ctx, key.AccountID); err != nil {
		return err
	}
	if _, err := s.c.LoadCaller(ctx, tx, key.AccountID, caller, s.now()); err != nil {
		return err
	}
	recs, err := s.c.APIKeys.Find(ctx, tx, keysOf(keyOwner{key.AccountID, key.UserID}))
	if err != nil {
		return err
	}
	ended := slices.DeleteFunc(slices.Clone(recs), func(rec store.Record[resources.APIKey]) bool {
		return rec.Value.Active(key.CreatedAt)
	})
	if active := len(recs) - len(ended); active >= maxActive {
		return resources.Conflict("You have %d active API keys, and no more can be made; revoke one that is not needed.", active)
	}
	for n := len(recs); n >= maxKeys; n-- {
		if err := s.deleteKey(ctx, tx, ended[len(ended)-1]); err != nil {
			return err
		}
		ended = ended[:len(ended)-1]
	}
	return s.c.APIKeys.Insert(ctx, tx, key)
}

// deleteKey deletes the records of a key and of its last use.
func (s *Service) deleteKey(ctx context.Context, tx store.Tx, key store.Record[resources.APIKey]) error {
	use, err := store.Lookup(s.c.KeyUses.Get(ctx, tx, key.Value.ID))
	if err == nil && use != nil {
		err = s.c.KeyUses.Delete(ctx, tx, *use)
	}
	if err != nil {
		return err
	}
	return s.c.APIKeys.Delete(ctx, tx, key)
}

// readKey reads the body of api_key.create; 400 with all problems.
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

// readScopes reads the scopes read, write or both.
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
