package access

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// roleFilter is the filter of role.list and role_assignment.list_of_user. "" matches every value.
type roleFilter struct{ status, scope, project string }

// readRoleFilter reads status, scope and projectId.
func readRoleFilter(q *wire.Query) roleFilter {
	return roleFilter{
		status:  q.OneOf("status", "", resources.StatusActive, resources.StatusInactive),
		scope:   q.OneOf("scope", "", resources.RoleScopeAccount, resources.RoleScopeProject, resources.RoleScopeResource),
		project: q.ID("projectId"),
	}
}

// matches says whether the filter matches these values.
func (f roleFilter) matches(status, scope, project string) bool {
	return (f.status == "" || f.status == status) && (f.scope == "" || f.scope == scope) &&
		(f.project == "" || f.project == project)
}

// pageBody is the response with one page of a numbered list (specification, "Pagination meta").
type pageBody[T any] struct {
	Data []T       `json:"data"`
	Meta wire.Meta `json:"meta"`
}

// pageOf returns the response with the page of the list.
func pageOf[T any](n wire.Numbered, all []T) (wire.Response, error) {
	data, meta := wire.Cut(n, all)
	return wire.OK(pageBody[T]{Data: data, Meta: meta})
}

// listRoles answers role.list (E4): system roles by id, then custom roles by name. With projectId
// it lists only the custom roles of that project.
func (s *Service) listRoles(ctx context.Context, r *wire.Request) (wire.Response, error) {
	var p wire.Problems
	q := r.ParseQuery(&p)
	filter, page := readRoleFilter(q), q.Numbered()
	q.Done()
	if err := p.Err(); err != nil {
		return wire.Response{}, err
	}
	var custom []store.Record[resources.Role]
	err := s.Store.View(ctx, func(tx store.Tx) (err error) {
		custom, err = s.c.Roles.Find(ctx, tx, store.Query{
			Index: records.ByName, Equal: []store.Value{store.String(r.Params["accountId"])},
		})
		return err
	})
	if err != nil {
		return wire.Response{}, err
	}
	all := s.systemRoles()
	for _, rec := range custom {
		all = append(all, rec.Value)
	}
	var out []resources.Role
	for _, role := range all {
		if filter.matches(role.Status, role.Scope, role.ProjectID) {
			out = append(out, role)
		}
	}
	return pageOf(page, out)
}
