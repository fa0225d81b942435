package records

import (
	"context"
	"maps"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// RoleChange is a change to an account. It may take account_admin away from somebody.
//
// An account admin is an active user of the account with account_admin there, directly or through a
// group. So a change can take it away in three ways only, each with its field; a change in several
// ways sets several fields.
type RoleChange struct {
	AccountID string
	Caller    resources.Principal
	Now       resources.Time

	// RoleIDs are the roles of the written or deleted assignments.
	RoleIDs []string
	// GroupID is the group of a removed member or assignment.
	GroupID string
	// UserID is the user who leaves the account or is not active any more.
	UserID string
}

// KeepAdmins makes a change in the transaction that has called Bump for the account. It returns
// FORBIDDEN if after the change the caller would not be an account admin any more, or no effective
// admin would be left: an admin by an unlimited assignment (specification, E6 and E7; API contract,
// 4). The caller then gives the transaction up.
//
// It reads the admins only if the change concerns account_admin or a holder of it. A RoleChange
// without a role, group or user is taken to concern it. It stands here because it binds every area
// with changes of users, groups or assignments.
func (c Collections) KeepAdmins(ctx context.Context, tx store.Tx, roleChange RoleChange, change func() error) error {
	concerned, err := c.concernsAdmin(ctx, tx, roleChange)
	if err != nil {
		return err
	}
	if !concerned {
		return change()
	}
	before, err := c.admins(ctx, tx, roleChange.AccountID, roleChange.Now)
	if err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	after, err := c.admins(ctx, tx, roleChange.AccountID, roleChange.Now)
	if err != nil {
		return err
	}
	lastingBefore, was := before[roleChange.Caller.ID]
	lastingAfter, is := after[roleChange.Caller.ID]
	if roleChange.Caller.Kind == resources.PrincipalUser && (was && !is || lastingBefore && !lastingAfter) {
		return resources.Forbidden("An organization admin cannot give up their own admin role; another admin has to do it.")
	}
	if lasting(before) && !lasting(after) {
		return resources.Forbidden("The last organization admin of an account cannot be demoted, removed or made inactive, " +
			"and their assignment cannot end; make somebody else an admin first.")
	}
	return nil
}

// concernsAdmin reports whether the change is one of account_admin's assignments, or of a group or
// user with the role. The state of the assignment does not matter.
func (c Collections) concernsAdmin(ctx context.Context, tx store.Tx, change RoleChange) (bool, error) {
	if len(change.RoleIDs) == 0 && change.GroupID == "" && change.UserID == "" {
		return true, nil
	}
	if slices.Contains(change.RoleIDs, resources.RoleAccountAdmin) {
		return true, nil
	}
	if change.GroupID != "" {
		if holds, err := c.holdsAdmin(ctx, tx, change.AccountID, resources.AssigneeGroup, change.GroupID); holds || err != nil {
			return holds, err
		}
	}
	if change.UserID == "" {
		return false, nil
	}
	if holds, err := c.holdsAdmin(ctx, tx, change.AccountID, resources.AssigneeUser, change.UserID); holds || err != nil {
		return holds, err
	}
	memberships, err := c.Members.Find(ctx, tx, membershipsOf(change.AccountID, change.UserID))
	if err != nil {
		return false, err
	}
	for _, m := range memberships {
		if holds, err := c.holdsAdmin(ctx, tx, change.AccountID, resources.AssigneeGroup, m.Value.GroupID); holds || err != nil {
			return holds, err
		}
	}
	return false, nil
}

// holdsAdmin reports whether the user or group is assigned account_admin itself.
func (c Collections) holdsAdmin(ctx context.Context, tx store.Tx, account, kind, assignee string) (bool, error) {
	held, err := c.Assignments.Find(ctx, tx, assignedTo(account, kind, assignee))
	return slices.ContainsFunc(held, func(rec store.Record[resources.Assignment]) bool {
		return rec.Value.RoleID == resources.RoleAccountAdmin
	}), err
}

// admins returns the active users who hold account_admin now; the value is true for an unlimited
// one.
func (c Collections) admins(ctx context.Context, tx store.Tx, account string, now resources.Time) (map[string]bool, error) {
	recs, err := c.Assignments.Find(ctx, tx, store.Query{
		Index: ByRole, Equal: []store.Value{store.String(account), store.String(resources.RoleAccountAdmin)},
	})
	if err != nil {
		return nil, err
	}
	forever := map[string]bool{}
	for _, rec := range recs {
		a := rec.Value
		// An assignment without permissions in policy makes no admin here either.
		if a.ProjectID != "" || a.RoleScope != resources.RoleScopeAccount || a.EffectiveStatus(now) != resources.StatusActive {
			continue
		}
		users, err := c.assignees(ctx, tx, a)
		if err != nil {
			return nil, err
		}
		for _, id := range users {
			forever[id] = forever[id] || a.ExpiresAt == 0
		}
	}
	users, err := c.Users.GetAll(ctx, tx, slices.Collect(maps.Keys(forever)))
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(forever, func(id string, _ bool) bool {
		u, exists := users[id]
		return !exists || u.Value.Status != resources.StatusActive || u.Value.AccountID != account
	})
	return forever, nil
}

// assignees returns the users of an assignment.
func (c Collections) assignees(ctx context.Context, tx store.Tx, a resources.Assignment) ([]string, error) {
	switch a.AssigneeType {
	case resources.AssigneeUser:
		return []string{a.AssigneeID}, nil
	case resources.AssigneeGroup:
	default: // an agent is not a user
		return nil, nil
	}
	members, err := c.Members.Find(ctx, tx, store.Query{Index: ByGroup, Equal: []store.Value{store.String(a.AssigneeID)}})
	if err != nil {
		return nil, err
	}
	out := make([]string, len(members))
	for i, m := range members {
		out[i] = m.Value.UserID
	}
	return out, nil
}

// lasting reports whether somebody is an admin by an unlimited assignment.
func lasting(admins map[string]bool) bool {
	return slices.Contains(slices.Collect(maps.Values(admins)), true)
}
