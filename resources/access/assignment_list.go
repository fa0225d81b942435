package access

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// heldBody is one item of role_assignment.list_of_user. projectId is "" at account level.
type heldBody struct {
	RoleID     string         `json:"roleId"`
	ProjectID  string         `json:"projectId"`
	ResourceID string         `json:"resourceId,omitempty"`
	GroupID    string         `json:"groupId,omitempty"`
	Status     string         `json:"status"`
	ExpiresAt  resources.Time `json:"expiresAt,omitzero"`
	CreatedAt  resources.Time `json:"createdAt"`
	UpdatedAt  resources.Time `json:"updatedAt"`
}

// listUserRoles answers role_assignment.list_of_user (E5): direct assignments, then those through
// groups.
func (s *Service) listUserRoles(ctx context.Context, r *wire.Request) (wire.Response, error) {
	var p wire.Problems
	q := r.ParseQuery(&p)
	filter, page := readRoleFilter(q), q.Numbered()
	q.Done()
	if err := p.Err(); err != nil {
		return wire.Response{}, err
	}
	account, user := r.Params["accountId"], r.Params["userId"]
	var held []resources.HeldRole
	err := s.Store.View(ctx, func(tx store.Tx) error {
		exists, err := s.assigneeExists(ctx, tx, account, resources.AssigneeUser, user)
		if err != nil {
			return err
		}
		if !exists {
			return resources.NotFound(assigneeNoun(resources.AssigneeUser))
		}
		held, err = s.c.HeldRoles(ctx, tx, account, user)
		return err
	})
	if err != nil {
		return wire.Response{}, err
	}
	return pageOf(page, s.heldBodies(held, filter))
}

// heldBodies returns the items that match the filter, with their status at present.
func (s *Service) heldBodies(held []resources.HeldRole, filter roleFilter) []heldBody {
	now := s.now()
	var out []heldBody
	for _, h := range held {
		status := resources.Assignment{Status: h.Status, ExpiresAt: h.ExpiresAt}.EffectiveStatus(now)
		if filter.matches(status, h.RoleScope, h.ProjectID) {
			out = append(out, heldBody{
				RoleID: h.RoleID, ProjectID: h.ProjectID, ResourceID: h.ResourceID, GroupID: h.GroupID,
				Status: status, ExpiresAt: h.ExpiresAt, CreatedAt: h.CreatedAt, UpdatedAt: h.UpdatedAt,
			})
		}
	}
	return out
}

// listRoleAssignments answers role_assignment.list_of_role (N15): the assignments of the role, in
// the order of their creation.
func (s *Service) listRoleAssignments(ctx context.Context, r *wire.Request) (wire.Response, error) {
	var p wire.Problems
	q := r.ParseQuery(&p)
	page := q.Numbered()
	q.Done()
	if err := p.Err(); err != nil {
		return wire.Response{}, err
	}
	account, id := r.Params["accountId"], r.Params["roleId"]
	var recs []store.Record[resources.Assignment]
	err := s.Store.View(ctx, func(tx store.Tx) error {
		role, err := s.findRole(ctx, tx, account, id)
		if err != nil {
			return err
		}
		if role == nil {
			return resources.NotFound(nounRole)
		}
		recs, err = s.c.Assignments.Find(ctx, tx, assignmentsOf(account, id))
		return err
	})
	if err != nil {
		return wire.Response{}, err
	}
	now := s.now()
	out := make([]assignmentBody, len(recs))
	for i, rec := range recs {
		out[i] = assignmentBodyOf(rec.Value, now)
	}
	return pageOf(page, out)
}
