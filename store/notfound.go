package store

import (
	"cmp"
	"context"

	"github.com/portcullis-authz/portcullis/resources"
)

// CommitNotFound is Transact for a change that takes something away. Where fn returns a
// NOT_FOUND, it commits what fn has bumped, and returns the NOT_FOUND after that: a client that
// repeats a removal whose answer was lost is told that nothing is left only when that is in force
// everywhere, as after the removal itself. fn returns it before it writes any record.
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
