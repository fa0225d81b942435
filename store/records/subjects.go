package records

import (
	"context"
	"errors"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// SubjectFree reports whether the string names no user yet. A token's subject is an external id or a
// provider's id, and user.update takes a UUID or an external id, so none of a user's three may be another
// user's.
func (c Collections) SubjectFree(ctx context.Context, tx store.Tx, subject string) (bool, error) {
	if rec, err := store.Lookup(c.Users.Get(ctx, tx, subject)); err != nil || rec != nil {
		return false, err
	}
	for _, index := range []string{ByPartner, ByUUID} {
		_, err := c.Users.First(ctx, tx, store.Query{Index: index, Equal: []store.Value{store.String(subject)}})
		if !errors.Is(err, store.ErrNotFound) {
			return false, err
		}
	}
	return true, nil
}

// UserByEmail returns the user with that address in any case of its letters.
func (c Collections) UserByEmail(ctx context.Context, tx store.Tx, email string) (store.Record[resources.User], error) {
	return c.Users.First(ctx, tx, store.Query{Index: ByEmail, Equal: []store.Value{store.String(resources.FoldASCII(email))}})
}

// HomesOf returns the account of each user, "" for an unknown one.
func (c Collections) HomesOf(ctx context.Context, tx store.Tx, users []string) ([]string, error) {
	reads := make([]store.Read, len(users))
	for i, user := range users {
		reads[i] = store.Read{Schema: c.Users.Schema(), Key: user}
	}
	_, results, err := tx.Together(ctx, "", reads...)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(users))
	for i, rows := range results {
		facts, err := decoded[userFacts](c.Users.Schema(), rows)
		if err != nil {
			return nil, err
		}
		if len(facts) > 0 {
			out[i] = facts[0].AccountID
		}
	}
	return out, nil
}
