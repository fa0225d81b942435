package clusters

import (
	"context"
	"errors"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// CloseProject says whether a cluster of either kind is left in the project, one that
// is being deleted included. Where none is, none can be made for the time that
// records.Collections.CloseProject gives, or until OpenProject. Errors are the store's.
func (s *Service) CloseProject(ctx context.Context, by resources.Closing) (occupied bool, err error) {
	p := place{by.AccountID, by.ProjectID}
	err = s.Store.Transact(ctx, func(tx store.Tx) (err error) {
		if occupied, err = s.kubernetes.has(ctx, tx, p); err != nil || occupied {
			return err
		}
		if occupied, err = s.gpu.has(ctx, tx, p); err != nil || occupied {
			return err
		}
		return s.c.CloseProject(ctx, tx, area, by, s.now())
	})
	return occupied, err
}

// OpenProject takes CloseProject back, for a project that is kept. Errors are the store's.
func (s *Service) OpenProject(ctx context.Context, by resources.Closing) error {
	return s.Store.Transact(ctx, func(tx store.Tx) error {
		return s.c.OpenProject(ctx, tx, area, by)
	})
}

// has says whether a cluster of the kind is in the place.
func (k kind[T]) has(ctx context.Context, tx store.Tx, p place) (bool, error) {
	_, err := k.records.First(ctx, tx, store.Query{
		Index: records.ByProject, Equal: []store.Value{store.String(p.account), store.String(p.project)},
	})
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
