package firewall

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// CloseProject says whether the project has groups; deleted ones do not count. If it has none, none
// can be made there (503) for the time that records.Collections.CloseProject states, or until
// OpenProject. Errors are the store's.
func (s *Service) CloseProject(ctx context.Context, closing resources.Closing) (occupied bool, err error) {
	place := groupPlace{closing.AccountID, closing.ProjectID}
	err = s.Store.Transact(ctx, func(tx store.Tx) error {
		groups, err := s.c.SecurityGroups.Count(ctx, tx, store.Query{Index: records.ByCreated, Equal: place.values()})
		if occupied = groups > 0; occupied || err != nil {
			return err
		}
		return s.c.CloseProject(ctx, tx, resources.AreaFirewall, closing, s.now())
	})
	return occupied, err
}

// OpenProject undoes CloseProject for a project that is not deleted. Errors are the store's.
func (s *Service) OpenProject(ctx context.Context, closing resources.Closing) error {
	return s.Store.Transact(ctx, func(tx store.Tx) error {
		return s.c.OpenProject(ctx, tx, resources.AreaFirewall, closing)
	})
}
