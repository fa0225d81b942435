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

// notYourProject refuses another account's project and an unknown one with one text: a caller can't
// tell them apart.
const notYourProject = "You do not have permission to do this in that project."

// ProjectView is a project as responses show it, without its state.
type ProjectView struct {
	ID        string         `json:"id"`
	AccountID string         `json:"account_id"`
	Name      string         `json:"name"`
	CreatedAt resources.Time `json:"created_at"`
	UpdatedAt resources.Time `json:"updated_at"`
}

// projectView returns the project as responses show it.
func projectView(p resources.Project) *ProjectView {
	return &ProjectView{ID: p.ID, AccountID: p.AccountID, Name: p.Name, CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt}
}

// ShownProject returns the project as change records show it.
func ShownProject(p resources.Project) any { return projectView(p) }

// projectBody is the response of project.create and project.update.
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
		if _, err := s.beginChange(ctx, tx, r, actionProjectCreate); err != nil {
			return wire.Response{}, err
		}
		if _, err := s.findAccount(ctx, tx, project.AccountID); err != nil {
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

// makeProject stores a new project. The transaction has bumped the revision of its account.
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

// accountProject reads a project of the account: 403 for one that the account never had, 404 for
// a deleted one.
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
