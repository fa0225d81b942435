package rolecache

import (
	"context"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// KeyIdentity is the owner of an API key as they are now, and what is known of the key.
type KeyIdentity struct {
	// Identity is the owner's; its account is the key's.
	Identity
	// Key is not revoked; whether it has ended is for the decision to judge. It is
	// shared: nobody changes its slices.
	Key resources.KeyFact
}

// IdentifyKey finds the key by its record's id. found is false when there is none, when
// it was revoked, and when its owner left its account; an error means that it is not
// known.
//
// Whose a key is never changes, so that alone is remembered; everything else comes from
// the facts of the current revision. An unknown key is remembered as long as the store
// has not moved: whoever makes one moves it.
func (c *Cache) IdentifyKey(ctx context.Context, keyID string) (id KeyIdentity, found bool, err error) {
	look := lookup{subject: keyID, key: true}
	owner := c.homes.Get(look)
	if owner == nil {
		if owner, err = c.newOwner(ctx, keyID); err != nil || owner == nil {
			return KeyIdentity{}, false, err
		}
		c.homes.Put(look, *owner)
	}
	facts, err := c.Facts(ctx, owner.account, owner.user, "")
	if err != nil {
		return KeyIdentity{}, false, err
	}
	s := facts.Subject
	at := slices.IndexFunc(s.Keys, func(k resources.KeyFact) bool { return k.ID == keyID })
	if at < 0 || !s.UserExists || !s.Member {
		return KeyIdentity{}, false, nil
	}
	return KeyIdentity{
		Identity: Identity{UserID: s.UserID, UUID: s.UserUUID, AccountID: s.AccountID, Status: s.UserStatus},
		Key:      s.Keys[at],
	}, true, nil
}

// newOwner asks the store for a key that has no hint, once for each state of the store.
func (c *Cache) newOwner(ctx context.Context, keyID string) (owner *home, err error) {
	if err := c.catchUp(ctx); err != nil {
		return nil, err
	}
	now := c.now()
	if then := c.unknown.Get(keyID); then != nil && *then == now {
		return nil, nil
	}
	owner, err = c.findOwner(ctx, keyID)
	if err == nil && owner == nil {
		c.unknown.Put(keyID, now)
	}
	return owner, err
}

// findOwner asks the store whose the key is.
func (c *Cache) findOwner(ctx context.Context, keyID string) (owner *home, err error) {
	err = c.view(ctx, func(tx store.Tx) error {
		owner = nil // of a run before, which counts for nothing
		rec, err := store.Lookup(c.c.APIKeys.Get(ctx, tx, keyID))
		if err == nil && rec != nil {
			owner = &home{user: rec.Value.UserID, account: rec.Value.AccountID}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return owner, nil
}
