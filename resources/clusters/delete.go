package clusters

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// remove answers kubernetes_cluster.delete and gpu_cluster.delete (N12). It makes a PENDING cluster
// DELETED and any other one DELETING, which ends the claim on it. It does not change a cluster that is
// in one of these two states.
func (k kind[T]) remove(ctx context.Context, r *wire.Request) (wire.Response, error) {
	if err := r.Bare(); err != nil {
		return wire.Response{}, err
	}
	var removed T
	err := k.s.Store.Transact(ctx, func(tx store.Tx) error {
		if err := k.s.checkCaller(ctx, tx, r); err != nil {
			return err
		}
		rec, err := k.find(ctx, tx, r)
		if err != nil {
			return err
		}
		h := k.head(&rec.Value)
		if next := k.status(deleted(resources.ClusterStateOf(k.status, *h.status))); next != *h.status {
			*h.status, *h.updatedAt, *h.task, *h.failure = next, k.s.now(), resources.ClusterTask{}, ""
			err = k.records.Replace(ctx, tx, rec)
		}
		removed = rec.Value
		return err
	})
	return wire.Answer(k.body(removed), err)
}
