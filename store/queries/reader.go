package queries

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// Reader reads snapshots of accounts.
type Reader struct {
	Store       store.Store
	Collections records.Collections
	// Gate is passed before a snapshot is taken: each takes as long as many short reads.
	Gate *gate.Gate
}

// view calls fn with a view of the store, in the turn of the account.
func (r Reader) view(ctx context.Context, account string, fn func(store.Tx) error) error {
	if err := r.Gate.Enter(ctx, account); err != nil {
		return err
	}
	defer r.Gate.Leave()
	return r.Store.View(ctx, fn)
}
