package records

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// KeepAdmins makes a change that may take account_admin away from somebody, in the
// transaction that has called Bump for the account. It refuses with FORBIDDEN, and
// the transaction is to be given up, when the caller would cease to be an account
// admin by it, or when no effective admin would be left: an active user with an
// active assignment that does not end, direct or through a group (specification, E6
// and E7; API contract, 4).
//
// It stands here because every area that changes users, groups or assignments is
// bound by it.
func (c Collections) KeepAdmins(
	ctx context.Context, tx store.Tx, account string, caller resources.Principal, now resources.Time, change func() error,
) error {
	before, err := c.admins(ctx, tx, account, now)
	if err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	after, err := c.admins(ctx, tx, account, now)
	if err != nil {
		return err
	}
	lastingBefore, was := before[caller.ID]
	lastingAfter, is := after[caller.ID]
	if caller.Kind == resources.PrincipalUser && (was && !is || lastingBefore && !lastingAfter) {
		return resources.Forbidden("An organization admin cannot give up their own admin role; another admin has to do it.")
	}
	if lasting(before) && !lasting(after) {
		return resources.Forbidden("The last organization admin of an account cannot be demoted, removed or made inactive, " +
			"and their assignment cannot end; make somebody else an admin first.")
	}
	return nil
}

// admins are the active users who hold account_admin now; true where for ever.
func (c Collections) admins(ctx context.Context, tx store.Tx, account string, now resources.Time) (map[string]bool, error) {
	found, err := c.Assignments.Find(ctx, tx, store.Query{
		Index: ByRole, Equal: []store.Value{store.String(account), store.String(resources.RoleAccountAdmin)},
	})
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, rec := range found {
		a := rec.Value
		// What policy does not count is no admin here either.
		if a.ProjectID != "" || a.RoleScope != resources.RoleScopeAccount || a.EffectiveStatus(now) != resources.StatusActive {
			continue
		}
		users, err := c.assignees(ctx, tx, a)
		if err != nil {
			return nil, err
		}
		for _, id := range users {
			u, err := optional(c.Users.Get(ctx, tx, id))
			if err != nil {
				return nil, err
			}
			if u != nil && u.Value.Status == resources.StatusActive && u.Value.AccountID == account {
				out[id] = out[id] || a.ExpiresAt == 0
			}
		}
	}
	return out, nil
}

// assignees are the users whom an assignment reaches.
func (c Collections) assignees(ctx context.Context, tx store.Tx, a resources.Assignment) ([]string, error) {
	if a.AssigneeType != resources.AssigneeGroup {
		return []string{a.AssigneeID}, nil
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

// lasting says whether somebody is an admin for ever.
func lasting(admins map[string]bool) bool {
	for _, forever := range admins {
		if forever {
			return true
		}
	}
	return false
}
