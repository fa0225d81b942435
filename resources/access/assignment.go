package access

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// assignmentBody is the specification's "Role assignment", with the place and the end
// where there are such.
type assignmentBody struct {
	AssigneeID   string         `json:"assigneeId"`
	AssigneeType string         `json:"assigneeType"`
	RoleID       string         `json:"roleId"`
	ProjectID    string         `json:"projectId,omitempty"`
	ResourceID   string         `json:"resourceId,omitempty"`
	Status       string         `json:"status"`
	ExpiresAt    resources.Time `json:"expiresAt,omitzero"`
	CreatedAt    resources.Time `json:"createdAt"`
	UpdatedAt    resources.Time `json:"updatedAt"`
}

func assignmentOf(a resources.Assignment, now resources.Time) assignmentBody {
	return assignmentBody{
		AssigneeID: a.AssigneeID, AssigneeType: a.AssigneeType, RoleID: a.RoleID, ProjectID: a.ProjectID,
		ResourceID: a.ResourceID, Status: a.EffectiveStatus(now), ExpiresAt: a.ExpiresAt,
		CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt,
	}
}

// assignmentsOf finds the assignments of a role in an account.
func assignmentsOf(account, role string) store.Query {
	return store.Query{Index: records.ByRole, Equal: []store.Value{store.String(account), store.String(role)}}
}

// assigneeThere says whether the assignee is a member or a group of the account.
func (s *Service) assigneeThere(ctx context.Context, tx store.Tx, account, kind, id string) (bool, error) {
	if kind == resources.AssigneeGroup {
		group, err := store.Lookup(s.c.Groups.Get(ctx, tx, id))
		return group != nil && group.Value.AccountID == account, err
	}
	user, err := store.Lookup(s.c.Users.Get(ctx, tx, id))
	return user != nil && user.Value.AccountID == account, err
}

// assigneeNoun is how an absent assignee is named.
func assigneeNoun(kind string) string {
	if kind == resources.AssigneeGroup {
		return "group"
	}
	return "user"
}
