package access

import (
	"context"
	"errors"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// Actions of projects, as the catalogue names them.
const (
	actionProjectCreate = "account:project:create"
	actionProjectUpdate = "account:project:update"
	actionProjectDelete = "account:project:delete"
)

// notYourProject answers for a project in the path that is another account's and for
// one that never was: one text, so that it tells neither from the other.
const notYourProject = "You do not have permission to do this in that project."

// ProjectView is a project as it is shown: without its state.
type ProjectView struct {
	ID        string         `json:"id"`
	AccountID string         `json:"account_id"`
	Name      string         `json:"name"`
	CreatedAt resources.Time `json:"created_at"`
	UpdatedAt resources.Time `json:"updated_at"`
}

func projectView(p resources.Project) *ProjectView {
	return &ProjectView{ID: p.ID, AccountID: p.AccountID, Name: p.Name, CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt}
}

// projectBody is what project.create and project.update answer.
type projectBody struct {
	Project *ProjectView `json:"project"`
}

// createProject answers project.create (N3).
func (s *Service) createProject(_ context.Context, r *wire.Request) (idempotency.Commit, error) {
	var p wire.Problems
	noQuery(r, &p)
	body := r.ParseObject(&p)
	project := resources.Project{AccountID: r.Params["accountId"], Name: requiredName(body, &p)}
	id, given := body.Text("id")
	if given {
		checkPatternID(&p, "id", resources.PrefixProject, id)
	}
	body.Done()
	if err := p.Err(); err != nil {
		return nil, err
	}
	if project.ID = id; !given {
		project.ID = s.IDs.New(resources.PrefixProject)
	}
	return func(ctx context.Context, tx store.Tx) (wire.Response, error) {
		if err := s.begin(ctx, tx, r, actionProjectCreate); err != nil {
			return wire.Response{}, err
		}
		if _, err := s.account(ctx, tx, project.AccountID); err != nil {
			return wire.Response{}, err
		}
		if given && !r.Principal.HasScope(resources.ServiceScopeAdmin) {
			return wire.Response{}, resources.Forbidden("Only a service with %s may choose a project's id; leave it out.",
				resources.ServiceScopeAdmin)
		}
		made, err := s.makeProject(ctx, tx, project)
		if err != nil {
			return wire.Response{}, err
		}
		return wire.Created(projectBody{made})
	}, nil
}

// begin starts a change whose actor's facts are not needed further.
func (s *Service) begin(ctx context.Context, tx store.Tx, r *wire.Request, action string) error {
	_, err := s.changing(ctx, tx, r, action)
	return err
}

// makeProject adds a project in a transaction that has called Bump for its account.
func (s *Service) makeProject(ctx context.Context, tx store.Tx, p resources.Project) (*ProjectView, error) {
	p.State, p.CreatedAt = resources.ProjectActive, s.now()
	p.UpdatedAt = p.CreatedAt
	err := s.c.Projects.Insert(ctx, tx, p)
	switch {
	case store.IsDuplicate(err, ""):
		return nil, resources.Conflict("The project id %s is in use, or was.", p.ID)
	case store.IsDuplicate(err, records.ByName):
		return nil, projectNameInUse()
	case err != nil:
		return nil, err
	}
	return projectView(p), nil
}

func projectNameInUse() error {
	return resources.Conflict("Another project of the account has this name.")
}

// accountProject reads a project that the path names below an account. One that is
// not the account's is forbidden, whether it exists or not; a deleted one is not there.
func (s *Service) accountProject(
	ctx context.Context, tx store.Tx, account, id string,
) (store.Record[resources.Project], error) {
	rec, err := s.c.Projects.Get(ctx, tx, id)
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && rec.Value.AccountID != account:
		return rec, resources.Forbidden(notYourProject)
	case err != nil:
		return rec, err
	case rec.Value.State == resources.ProjectDeleted:
		return rec, resources.NotFound("project")
	}
	return rec, nil
}
