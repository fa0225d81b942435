package clusters

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// remove answers kubernetes_cluster.delete and gpu_cluster.delete (N12). A PENDING cluster, which nobody has begun to make, is DELETED at once;
// any other one is DELETING from now on. A repeat changes nothing, nor does it bring a deleted one back.
func (k kind[T]) remove(ctx context.Context, r *wire.Request) (wire.Response, error) {
	if err := r.Bare(); err != nil {
		return wire.Response{}, err
	}
	var left T
	err := k.s.Store.Transact(ctx, func(tx store.Tx) error {
		if err := k.s.checkCaller(ctx, tx, r); err != nil {
			return err
		}
		rec, err := k.find(ctx, tx, r)
		if err != nil {
			return err
		}
		if h := k.head(&rec.Value); !k.ending(*h.status) {
			next := resources.ClusterDeleting
			if *h.status == k.status(resources.ClusterPending) {
				next = resources.ClusterDeleted
			}
			*h.status, *h.updatedAt = k.status(next), k.s.now()
			err = k.records.Replace(ctx, tx, rec)
		}
		left = rec.Value
		return err
	})
	if err != nil {
		return wire.Response{}, err
	}
	return wire.OK(clusterBody{k.shown(left)})
}
