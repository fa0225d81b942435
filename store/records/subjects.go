package records

import (
	"context"
	"errors"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// SubjectFree says whether no user can be meant by the string yet: a token's subject
// is an external id or a partner id, and user.update takes a UUID or an external id, so none
// of the three may be one of another user's.
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

// UserByEmail finds the user with that address, however its letters are cased.
func (c Collections) UserByEmail(ctx context.Context, tx store.Tx, email string) (store.Record[resources.User], error) {
	return c.Users.First(ctx, tx, store.Query{Index: ByEmail, Equal: []store.Value{store.String(resources.FoldEmail(email))}})
}
