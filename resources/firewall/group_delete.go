package firewall

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// maxDeleted bounds the deleted groups of a project.
const maxDeleted = 1000

// deleteGroup answers security_group.delete (N11). It refuses a group that a rule of another group
// names. A repeat is answered 404.
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
		// A change that adds a rule naming the group conflicts with this one.
		if err := s.enter(ctx, tx, placeOf(r)); err != nil {
			return err
		}
		reference, err := store.Lookup(s.c.SecurityGroupReferences.First(ctx, tx, store.Query{
			Index: records.ByRemoteGroup, Equal: []store.Value{store.String(rec.Value.ID)},
		}))
		if err != nil {
			return err
		}
		if reference != nil {
			return resources.Conflict("A rule of another security group names this one; delete that rule first.")
		}
		return s.moveToDeleted(ctx, tx, rec)
	})
	return wire.Answer(doneBody{"The security group was deleted."}, err)
}

func (s *Service) moveToDeleted(ctx context.Context, tx store.Tx, rec store.Record[resources.SecurityGroup]) error {
	if err := s.updateReferences(ctx, tx, rec.Value.ID, remotesOf(rec.Value), nil); err != nil {
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
	if err := s.trimDeleted(ctx, tx, groupPlace{g.AccountID, g.ProjectID}); err != nil {
		return err
	}
	return s.c.DeletedSecurityGroups.Insert(ctx, tx, g)
}

// trimDeleted deletes the oldest deleted groups of the project until one more has room.
func (s *Service) trimDeleted(ctx context.Context, tx store.Tx, place groupPlace) error {
	query := store.Query{Index: records.ByDeletion, Equal: place.values()}
	count, err := s.c.DeletedSecurityGroups.Count(ctx, tx, query)
	if err != nil || count < maxDeleted {
		return err
	}
	query.Limit = count - maxDeleted + 1
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
