package queries

import (
	"context"
	"errors"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// ErrMoved means a change to the account since that revision.
var ErrMoved = errors.New("the account has changed since the facts were read")

// FactsAndRoles reads the facts about a user in a project, and the account's custom roles, at one revision.
func (r Reader) FactsAndRoles(ctx context.Context, account, user, project string) (facts resources.Facts, roles []resources.Role, err error) {
	err = r.view(ctx, account, func(tx store.Tx) (err error) {
		if facts, err = r.Collections.LoadFacts(ctx, tx, account, user, project); err != nil {
			return err
		}
		recs, err := r.Collections.Roles.Find(ctx, tx, store.Query{Index: records.ByName, Equal: []store.Value{store.String(account)}})
		roles = make([]resources.Role, len(recs))
		for i := range recs {
			roles[i] = recs[i].Value
		}
		return err
	})
	return facts, roles, err
}

// Concerned counts the users of a change at that revision of the account; ErrMoved if the account has another one.
func (r Reader) Concerned(ctx context.Context, revision int64, concern records.Concern) (n int, err error) {
	err = r.view(ctx, concern.AccountID, func(tx store.Tx) error {
		now, err := tx.Revision(ctx, concern.AccountID)
		if err != nil {
			return err
		}
		if now != revision {
			return ErrMoved
		}
		n, err = r.Collections.Concerned(ctx, tx, concern)
		return err
	})
	return n, err
}
