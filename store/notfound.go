package store

import (
	"cmp"
	"context"

	"github.com/portcullis-authz/portcullis/resources"
)

// CommitNotFound is Transact for a removal. If fn returns a NOT_FOUND, it commits fn's bumps and
// then returns the NOT_FOUND. So a client who repeats a removal with a lost answer hears of it only
// after the removal is in force everywhere, as with the first answer. fn returns it before it
// writes any record.
func CommitNotFound(ctx context.Context, s Store, fn func(Tx) error) error {
	var missing error
	err := s.Transact(ctx, func(tx Tx) error {
		missing = nil
		err := fn(tx)
		if resources.IsKind(err, resources.KindNotFound) {
			missing, err = err, nil
		}
		return err
	})
	return cmp.Or(err, missing)
}
