package access

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// projectList is the response of project.list.
type projectList struct {
	Projects []*ProjectView `json:"projects"`
	listMeta
}

// listProjects answers project.list (N4), in the order of creation. The list shows projects that
// are being deleted.
func (s *Service) listProjects(ctx context.Context, r *wire.Request) (wire.Response, error) {
	account := r.Params["accountId"]
	projects, page, err := listByToken(ctx, s, r, s.c.Projects, listing{
		query:   store.Query{Index: records.ByAccount, Equal: []store.Value{store.String(account)}},
		binding: binding("project.list", account),
	})
	if err != nil {
		return wire.Response{}, err
	}
	out := projectList{Projects: make([]*ProjectView, len(projects)), listMeta: page}
	for i, p := range projects {
		out.Projects[i] = projectView(p)
	}
	return wire.OK(out)
}

// updateProject answers project.update (N4).
func (s *Service) updateProject(ctx context.Context, r *wire.Request) (wire.Response, error) {
	var p wire.Problems
	noQuery(r, &p)
	body := r.ParseObject(&p)
	name := requiredName(body, &p)
	body.Done()
	var changed *ProjectView
	err := s.Store.Transact(ctx, func(tx store.Tx) error {
		rec, err := s.pathProject(ctx, tx, r, actionProjectUpdate, p.Err())
		if err != nil {
			return err
		}
		if rec.Value.State == resources.ProjectDeleting {
			return resources.Conflict("The project is being deleted.")
		}
		rec.Value.Name, rec.Value.UpdatedAt = name, s.now()
		changed = projectView(rec.Value)
		err = s.c.Projects.Replace(ctx, tx, rec)
		if store.IsDuplicate(err, records.ByName) {
			return projectNameInUse()
		}
		return err
	})
	return wire.Answer(projectBody{changed}, err)
}

// pathProject begins a change of the project in the path and reads the project. invalid is the
// error of the rest of the request. Another account's project is refused before it, an unknown
// project after it.
func (s *Service) pathProject(
	ctx context.Context, tx store.Tx, r *wire.Request, action string, invalid error,
) (store.Record[resources.Project], error) {
	account := r.Params["accountId"]
	if _, err := s.beginChange(ctx, tx, r, action); err != nil {
		return store.Record[resources.Project]{}, err
	}
	rec, err := s.accountProject(ctx, tx, account, r.Params["projectId"])
	if invalid != nil && (err == nil || resources.IsKind(err, resources.KindNotFound)) {
		return rec, invalid
	}
	return rec, err
}
