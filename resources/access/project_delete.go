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

// unmarkTimeout bounds unmarkProject, which goes on when the caller is gone.
const unmarkTimeout = 10 * time.Second

// deleteProject answers project.delete (N4) in three steps. It marks the project, and policy denies
// everything in a marked one. It asks every area whether the project is empty. It deletes the
// project or removes the mark.
//
// The areas can't be asked in a transaction, since their data may be in another store. Between the
// steps nothing can be made in the project: policy denies new requests in it, and an area refuses
// earlier allowed ones once it found the project empty. A mark survives a crash, and a repeated
// request continues from it.
func (s *Service) deleteProject(ctx context.Context, r *wire.Request) (wire.Response, error) {
	mark, err := s.markProject(ctx, r)
	if err != nil && !errors.Is(err, store.ErrOutcomeUnknown) { // after that the project may be marked
		return wire.Response{}, err
	}
	if err == nil {
		err = s.checkEmpty(ctx, mark)
	}
	if err == nil {
		err = s.finishProject(ctx, r, mark.Revision)
	}
	if err != nil {
		if undo := s.unmarkProject(ctx, mark); undo != nil {
			return wire.Response{}, resources.Unavailable(
				"The project could not be deleted and is still marked for it; repeat the request.", errors.Join(err, undo))
		}
		return wire.Response{}, err
	}
	return done("The project was deleted.", nil)
}

// markProject marks the project as deleting and returns it. Its revision proves to finishProject
// that the mark was not removed meanwhile.
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

// checkEmpty asks every area to close the project. It refuses a project with contents, and one
// without an answer from every area.
func (s *Service) checkEmpty(ctx context.Context, mark store.Record[resources.Project]) error {
	for _, occupant := range s.Occupants {
		occupied, err := occupant.CloseProject(ctx, closingOf(mark))
		if err != nil {
			return resources.Unavailable("It could not be determined whether the project is empty; it was not deleted.", err)
		}
		if occupied {
			return resources.Conflict("The project still has resources in it; delete them first.")
		}
	}
	return nil
}

func closingOf(mark store.Record[resources.Project]) resources.Closing {
	return resources.Closing{AccountID: mark.Value.AccountID, ProjectID: mark.Value.ID, Mark: mark.Revision}
}

// finishProject deletes the project's assignments and roles and makes the project deleted. Its
// record stays, so that no other project gets its id.
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

// deleteAssignments deletes the assignments that an index finds.
func (s *Service) deleteAssignments(ctx context.Context, tx store.Tx, index string, equal ...string) error {
	q := store.Query{Index: index}
	for _, v := range equal {
		q.Equal = append(q.Equal, store.String(v))
	}
	return s.c.Assignments.DeleteAll(ctx, tx, q)
}

// deleteProjectRoles deletes the custom roles of the project and their assignments.
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

// unmarkProject removes the mark and opens the areas again, even if the caller is gone. It leaves
// a project alone that has changed since the mark. An area that can't be reached opens by itself
// after a time.
func (s *Service) unmarkProject(ctx context.Context, mark store.Record[resources.Project]) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unmarkTimeout)
	defer cancel()
	unmarked := false
	err := s.Store.Transact(ctx, func(tx store.Tx) error {
		unmarked = false
		if _, err := tx.Bump(ctx, mark.Value.AccountID); err != nil {
			return err
		}
		rec, err := s.c.Projects.Get(ctx, tx, mark.Value.ID)
		if err != nil || rec.Revision != mark.Revision || rec.Value.State != resources.ProjectDeleting {
			return err
		}
		unmarked = true
		rec.Value.State = resources.ProjectActive
		return s.c.Projects.Replace(ctx, tx, rec)
	})
	if err != nil || !unmarked {
		return err
	}
	for _, occupant := range s.Occupants {
		_ = occupant.OpenProject(ctx, closingOf(mark)) // the area opens by itself later
	}
	return nil
}
