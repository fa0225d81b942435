package clusters

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// get answers kubernetes_cluster.get and gpu_cluster.get (N12).
func (k kind[T]) get(ctx context.Context, r *wire.Request) (wire.Response, error) {
	if err := r.Bare(); err != nil {
		return wire.Response{}, err
	}
	var rec store.Record[T]
	err := k.s.Store.View(ctx, func(tx store.Tx) (err error) {
		rec, err = k.find(ctx, tx, r)
		return err
	})
	return wire.Answer(k.body(rec.Value), err)
}
