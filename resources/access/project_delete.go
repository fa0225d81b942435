package access

import (
	"context"
	"errors"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// unmarkTimeout bounds taking a mark back, which goes on when the caller is gone.
const unmarkTimeout = 10 * time.Second

// deleteProject answers project.delete (N4) in three steps: it marks the project, from when on
// everything in it is denied, asks every area whether something is left in it, and
// deletes it or takes the mark back.
//
// The areas can't be asked in the transaction: what they hold may be elsewhere. The
// mark makes the gap safe, since nothing can be made in a marked project, nor, by a
// request that is under way since before, in an area that has said it is empty. The mark
// stays behind a crash, and a repeat runs on from it.
func (s *Service) deleteProject(ctx context.Context, r *wire.Request) (wire.Response, error) {
	mark, err := s.markProject(ctx, r)
	if err != nil {
		return wire.Response{}, err
	}
	err = s.vacant(ctx, mark)
	if err == nil {
		err = s.finishProject(ctx, r, mark.Revision)
	}
	if err != nil {
		if undo := s.keepProject(ctx, mark); undo != nil {
			return wire.Response{}, resources.Unavailable(
				"The project could not be deleted and is still marked for it; repeat the request.", errors.Join(err, undo))
		}
		return wire.Response{}, err
	}
	return done("The project was deleted.")
}

// markProject gives the marked project with the revision of its mark: only a project
// that is still at it was never out of the mark since.
func (s *Service) markProject(ctx context.Context, r *wire.Request) (store.Record[resources.Project], error) {
	invalid := r.Bare()
	var mark store.Record[resources.Project]
	err := store.CommitNotFound(ctx, s.Store, func(tx store.Tx) (err error) {
		mark, err = s.pathProject(ctx, tx, r, actionProjectDelete, invalid)
		if err != nil || mark.Value.State == resources.ProjectDeleting {
			return err
		}
		mark.Value.State = resources.ProjectDeleting
		if err := s.c.Projects.Replace(ctx, tx, mark); err != nil {
			return err
		}
		mark.Revision++
		return nil
	})
	return mark, err
}

// vacant asks every area; one that can't say keeps the project.
func (s *Service) vacant(ctx context.Context, mark store.Record[resources.Project]) error {
	for _, occupant := range s.Occupants {
		occupied, err := occupant.CloseProject(ctx, closing(mark))
		if err != nil {
			return resources.Unavailable("It could not be determined whether the project is empty; it was not deleted.", err)
		}
		if occupied {
			return resources.Conflict("The project still has resources in it; delete them first.")
		}
	}
	return nil
}

// closing is what areas are told of a mark.
func closing(mark store.Record[resources.Project]) resources.Closing {
	return resources.Closing{AccountID: mark.Value.AccountID, ProjectID: mark.Value.ID, Mark: mark.Revision}
}

// finishProject ends the project, its assignments and its roles. The record stays,
// since its id is never given again.
func (s *Service) finishProject(ctx context.Context, r *wire.Request, revision int64) error {
	return store.CommitNotFound(ctx, s.Store, func(tx store.Tx) error {
		rec, err := s.pathProject(ctx, tx, r, actionProjectDelete, nil)
		if err != nil {
			return err
		}
		if rec.Revision != revision {
			return resources.Conflict("Another request changed the project while it was being deleted; try again.")
		}
		account, id := rec.Value.AccountID, rec.Value.ID
		if err := s.deleteAssignments(ctx, tx, records.ByProject, account, id); err != nil {
			return err
		}
		if err := s.deleteProjectRoles(ctx, tx, account, id); err != nil {
			return err
		}
		rec.Value.State, rec.Value.UpdatedAt = resources.ProjectDeleted, s.now()
		return s.c.Projects.Replace(ctx, tx, rec)
	})
}

// deleteAssignments removes the account's assignments that an index finds.
func (s *Service) deleteAssignments(ctx context.Context, tx store.Tx, index string, equal ...string) error {
	q := store.Query{Index: index}
	for _, v := range equal {
		q.Equal = append(q.Equal, store.String(v))
	}
	found, err := s.c.Assignments.Find(ctx, tx, q)
	if err != nil {
		return err
	}
	for _, rec := range found {
		if err := s.c.Assignments.Delete(ctx, tx, rec); err != nil {
			return err
		}
	}
	return nil
}

// deleteProjectRoles removes the custom roles that were made for the project, wherever
// they are assigned.
func (s *Service) deleteProjectRoles(ctx context.Context, tx store.Tx, account, project string) error {
	roles, err := s.c.Roles.Find(ctx, tx, store.Query{
		Index: records.ByName, Equal: []store.Value{store.String(account)},
	})
	if err != nil {
		return err
	}
	for _, rec := range roles {
		if rec.Value.ProjectID != project {
			continue
		}
		if err := s.deleteAssignments(ctx, tx, records.ByRole, account, rec.Value.ID); err != nil {
			return err
		}
		if err := s.c.Roles.Delete(ctx, tx, rec); err != nil {
			return err
		}
	}
	return nil
}

// keepProject takes the mark back, also for a caller who went away, and opens the areas
// again. A project that has moved on from this mark is left to whoever moved it. An area
// that can't be told opens by itself after a time.
func (s *Service) keepProject(ctx context.Context, mark store.Record[resources.Project]) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unmarkTimeout)
	defer cancel()
	kept := false
	err := s.Store.Transact(ctx, func(tx store.Tx) error {
		kept = false
		if _, err := tx.Bump(ctx, mark.Value.AccountID); err != nil {
			return err
		}
		rec, err := s.c.Projects.Get(ctx, tx, mark.Value.ID)
		if err != nil || rec.Revision != mark.Revision || rec.Value.State != resources.ProjectDeleting {
			return err
		}
		kept = true
		rec.Value.State = resources.ProjectActive
		return s.c.Projects.Replace(ctx, tx, rec)
	})
	if err != nil || !kept {
		return err
	}
	for _, occupant := range s.Occupants {
		_ = occupant.OpenProject(ctx, closing(mark)) // else it opens by itself
	}
	return nil
}
