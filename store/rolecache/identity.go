package rolecache

import (
	"context"
	"errors"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// lookup is the id of an API key, or a token's subject with the names that it may be: an external id, a partner id.
type lookup struct {
	subject               string
	byExternal, byPartner bool
	key                   bool
}

// userRef says where a user was last found. It is a hint: the facts of the current revision must
// confirm it.
type userRef struct{ user, account string }

// Identify finds the user with that external id (byExternal) or identity provider's subject (byPartner). exists is
// false for an unknown subject, and means nothing beside an error.
func (c *Cache) Identify(ctx context.Context, subject string, byExternal, byPartner bool) (id resources.Identity, exists bool, err error) {
	look := lookup{subject: subject, byExternal: byExternal, byPartner: byPartner}
	if hint := c.homes.Get(look); hint != nil {
		id, exists, err = c.confirm(ctx, look, *hint)
		if err != nil || exists {
			return id, exists, err
		}
	}
	hint, ok, err := c.find(ctx, look)
	if err != nil || !ok {
		return resources.Identity{}, false, err
	}
	id, exists, err = c.confirm(ctx, look, hint)
	if exists {
		c.homes.Put(look, hint)
	}
	return id, exists, err
}

// AgentOf finds the agent of the account with the client. exists is false for an unknown one, and means nothing beside an
// error.
func (c *Cache) AgentOf(ctx context.Context, account string, client resources.AgentClient) (id resources.Identity, exists bool, err error) {
	var facts [1]resources.Facts
	if err := c.FactsOf(ctx, account, []resources.About{{Agent: resources.AgentRef{Client: client}}}, facts[:]); err != nil {
		return resources.Identity{}, false, err
	}
	s := facts[0].Agent
	if s == nil || !s.UserExists {
		return resources.Identity{}, false, nil
	}
	return resources.Identity{ID: s.UserID, AccountID: account, Status: s.UserStatus}, true, nil
}

// confirm checks a hint against the facts of the current revision.
func (c *Cache) confirm(ctx context.Context, look lookup, hint userRef) (resources.Identity, bool, error) {
	facts, err := c.Facts(ctx, hint.account, hint.user, "")
	if err != nil {
		return resources.Identity{}, false, err
	}
	s := facts.Subject
	named := look.byExternal && s.UserID == look.subject || look.byPartner && s.PartnerID == look.subject && look.subject != ""
	if !s.UserExists || !named || s.HomeID != hint.account {
		return resources.Identity{}, false, nil
	}
	return resources.Identity{ID: s.UserID, UUID: s.UserUUID, AccountID: s.HomeID, Status: s.UserStatus}, true, nil
}

// find asks the store; an external id goes before a provider's subject. It catches up first: a store without an answer
// then costs no second deadline.
func (c *Cache) find(ctx context.Context, look lookup) (hint userRef, ok bool, err error) {
	if err := c.catchUp(ctx); err != nil {
		return userRef{}, false, err
	}
	err = c.view(ctx, "", func(tx store.Tx) error {
		hint, ok = userRef{}, false // the result of an earlier run does not count
		rec, err := c.user(ctx, tx, look)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		hint, ok = userRef{user: rec.Value.ExternalID, account: rec.Value.AccountID}, true
		return nil
	})
	return hint, ok, err
}

func (c *Cache) user(ctx context.Context, tx store.Tx, look lookup) (store.Record[resources.User], error) {
	if look.byExternal {
		rec, err := c.records.Users.Get(ctx, tx, look.subject)
		if !errors.Is(err, store.ErrNotFound) || !look.byPartner {
			return rec, err
		}
	}
	return c.records.Users.First(ctx, tx, store.Query{Index: records.ByPartner, Equal: []store.Value{store.String(look.subject)}})
}
