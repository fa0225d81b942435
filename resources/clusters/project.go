package clusters

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// CloseProject says whether the project has a cluster of either kind; a deleting one counts. If it
// has none, none can be made there for the time that records.Collections.CloseProject states, or
// until OpenProject. Errors are the store's.
func (s *Service) CloseProject(ctx context.Context, closing resources.Closing) (occupied bool, err error) {
	p := clusterPlace{closing.AccountID, closing.ProjectID}
	err = s.Store.Transact(ctx, func(tx store.Tx) (err error) {
		if occupied, err = s.kubernetes.has(ctx, tx, p); err != nil || occupied {
			return err
		}
		if occupied, err = s.gpu.has(ctx, tx, p); err != nil || occupied {
			return err
		}
		return s.c.CloseProject(ctx, tx, area, closing, s.now())
	})
	return occupied, err
}

// OpenProject undoes CloseProject for a project that is not deleted. Errors are the store's.
func (s *Service) OpenProject(ctx context.Context, closing resources.Closing) error {
	return s.Store.Transact(ctx, func(tx store.Tx) error {
		return s.c.OpenProject(ctx, tx, area, closing)
	})
}

// has says whether the project has a cluster of the kind.
func (k kind[T]) has(ctx context.Context, tx store.Tx, p clusterPlace) (bool, error) {
	rec, err := store.Lookup(k.records.First(ctx, tx, store.Query{
		Index: records.ByProject, Equal: []store.Value{store.String(p.account), store.String(p.project)},
	}))
	return rec != nil, err
}
