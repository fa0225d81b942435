package firewall

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// CloseProject says whether groups are left in a project that is to be deleted,
// deleted ones not counted. Where none is, for two minutes none can be made in it: 503
// for whoever tries.
func (s *Service) CloseProject(ctx context.Context, by resources.Closing) (occupied bool, err error) {
	at := place{by.AccountID, by.ProjectID}
	err = s.Store.Transact(ctx, func(tx store.Tx) error {
		groups, err := s.c.SecurityGroups.Count(ctx, tx, store.Query{Index: records.ByCreated, Equal: at.values()})
		if occupied = groups > 0; occupied || err != nil {
			return err
		}
		return s.c.CloseProject(ctx, tx, resources.AreaFirewall, by, s.now())
	})
	return occupied, err
}

// OpenProject takes CloseProject back for a project that is kept.
func (s *Service) OpenProject(ctx context.Context, by resources.Closing) error {
	return s.Store.Transact(ctx, func(tx store.Tx) error {
		return s.c.OpenProject(ctx, tx, resources.AreaFirewall, by)
	})
}
