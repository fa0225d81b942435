package firewall

import (
	"context"
	"errors"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// maxDeleted is how many deleted groups of a project are kept.
const maxDeleted = 1000

// deleteGroup answers security_group.delete (N11). What was deleted is not found again, a repeat included.
func (s *Service) deleteGroup(ctx context.Context, r *wire.Request) (wire.Response, error) {
	if err := r.Bare(); err != nil {
		return wire.Response{}, err
	}
	err := s.Store.Transact(ctx, func(tx store.Tx) error {
		if err := s.checkCaller(ctx, tx, r); err != nil {
			return err
		}
		rec, err := s.pathGroup(ctx, tx, r)
		if err != nil {
			return err
		}
		// No rule that names it is added meanwhile.
		if err := s.enter(ctx, tx, placeOf(r)); err != nil {
			return err
		}
		_, err = s.c.SecurityGroupReferences.First(ctx, tx, store.Query{
			Index: records.ByRemoteGroup, Equal: []store.Value{store.String(rec.Value.ID)},
		})
		if err == nil {
			return resources.Conflict("A rule of another security group names this one; delete that rule first.")
		}
		if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		return s.retire(ctx, tx, rec)
	})
	if err != nil {
		return wire.Response{}, err
	}
	return wire.OK(doneBody{"The security group was deleted."})
}

// retire moves a group among the deleted ones.
func (s *Service) retire(ctx context.Context, tx store.Tx, rec store.Record[resources.SecurityGroup]) error {
	if err := s.refer(ctx, tx, rec.Value.ID, remotesOf(rec.Value), nil); err != nil {
		return err
	}
	if err := s.c.SecurityGroups.Delete(ctx, tx, rec); err != nil {
		return err
	}
	g := rec.Value
	g.Status, g.IsDeleted, g.UpdatedAt = resources.SecurityGroupDeleted, true, s.now()
	for i := range g.Rules {
		g.Rules[i].IsDeleted, g.Rules[i].UpdatedAt = true, g.UpdatedAt
	}
	if err := s.forget(ctx, tx, place{g.AccountID, g.ProjectID}); err != nil {
		return err
	}
	return s.c.DeletedSecurityGroups.Insert(ctx, tx, g)
}

// forget makes room for one more deleted group.
func (s *Service) forget(ctx context.Context, tx store.Tx, at place) error {
	query := store.Query{Index: records.ByDeletion, Equal: at.values()}
	kept, err := s.c.DeletedSecurityGroups.Count(ctx, tx, query)
	if err != nil || kept < maxDeleted {
		return err
	}
	query.Limit = kept - maxDeleted + 1
	oldest, err := s.c.DeletedSecurityGroups.Find(ctx, tx, query)
	if err != nil {
		return err
	}
	for _, rec := range oldest {
		if err := s.c.DeletedSecurityGroups.Delete(ctx, tx, rec); err != nil {
			return err
		}
	}
	return nil
}
