package store

import (
	"cmp"
	"context"

	"github.com/portcullis-authz/portcullis/resources"
)

// CommitNotFound is Transact for a change that takes something away. Where fn gives a
// NOT_FOUND, the transaction is committed with what it has bumped, and the NOT_FOUND is
// given after that: a caller who repeats a change whose answer was lost hears that there is
// nothing left of it only when that is in force everywhere, as after the change itself. fn
// gives it before it writes any record.
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
