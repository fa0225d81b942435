package access

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// assignmentBody is an assignment as responses show it (specification, "Role assignment").
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

// assignmentBodyOf returns the assignment as it is shown at that time.
func assignmentBodyOf(a resources.Assignment, now resources.Time) assignmentBody {
	return assignmentBody{
		AssigneeID: a.AssigneeID, AssigneeType: a.AssigneeType, RoleID: a.RoleID, ProjectID: a.ProjectID,
		ResourceID: a.ResourceID, Status: a.EffectiveStatus(now), ExpiresAt: a.ExpiresAt,
		CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt,
	}
}

// ShownAssignment returns the assignment as change records show it.
func ShownAssignment(a resources.Assignment) any { return assignmentBodyOf(a, 0) }

// assignmentsOf returns the query for all assignments of a role in an account.
func assignmentsOf(account, role string) store.Query {
	return store.Query{Index: records.ByRole, Equal: []store.Value{store.String(account), store.String(role)}}
}

// assigneeExists says whether the assignee is a member, a group or an agent of the account.
func (s *Service) assigneeExists(ctx context.Context, tx store.Tx, account, kind, id string) (bool, error) {
	switch kind {
	case resources.AssigneeGroup:
		group, err := store.Lookup(s.c.Groups.Get(ctx, tx, id))
		return group != nil && group.Value.AccountID == account, err
	case resources.AssigneeAgent:
		agent, err := store.Lookup(s.c.Agents.Get(ctx, tx, id))
		return agent != nil && agent.Value.AccountID == account, err
	}
	user, err := store.Lookup(s.c.Users.Get(ctx, tx, id))
	return user != nil && user.Value.AccountID == account, err
}

func assigneeNoun(kind string) string {
	switch kind {
	case resources.AssigneeGroup:
		return "group"
	case resources.AssigneeAgent:
		return "agent"
	}
	return "user"
}
