package rolecache

import (
	"context"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// IdentifyKey finds the key by its id. ok is false for an unknown key, a revoked one, and one whose owner left the
// account, and means nothing beside an error. Only the owner of a key is cached, since it never changes; everything
// else comes from the facts of the current revision. An unknown key is cached until the store moves, as it does with
// each new key.
func (c *Cache) IdentifyKey(ctx context.Context, keyID string) (id resources.KeyIdentity, ok bool, err error) {
	look := lookup{subject: keyID, key: true}
	owner := c.homes.Get(look)
	if owner == nil {
		if owner, err = c.newOwner(ctx, keyID); err != nil || owner == nil {
			return resources.KeyIdentity{}, false, err
		}
		c.homes.Put(look, *owner)
	}
	facts, err := c.Facts(ctx, owner.account, owner.user, "")
	if err != nil {
		return resources.KeyIdentity{}, false, err
	}
	s := facts.Subject
	index := slices.IndexFunc(s.Keys, func(k resources.KeyFact) bool { return k.ID == keyID })
	if index < 0 || !s.UserExists || !s.Member {
		return resources.KeyIdentity{}, false, nil
	}
	return resources.KeyIdentity{
		Owner: resources.Identity{ID: s.UserID, UUID: s.UserUUID, AccountID: s.AccountID, Status: s.UserStatus},
		Key:   s.Keys[index],
	}, true, nil
}

// newOwner returns the owner of an uncached key, nil for an unknown key. It asks once in each epoch of the store.
func (c *Cache) newOwner(ctx context.Context, keyID string) (owner *userRef, err error) {
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

// findOwner reads the key's owner from the store, nil for an unknown key.
func (c *Cache) findOwner(ctx context.Context, keyID string) (owner *userRef, err error) {
	err = c.view(ctx, "", func(tx store.Tx) error {
		owner = nil // the result of an earlier run does not count
		rec, err := store.Lookup(c.records.APIKeys.Get(ctx, tx, keyID))
		if err == nil && rec != nil {
			owner = &userRef{user: rec.Value.UserID, account: rec.Value.AccountID}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return owner, nil
}
