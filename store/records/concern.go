package records

import (
	"context"
	"maps"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// Concern names the users of a change: the holders of roles and the members of groups, or all members of the account.
type Concern struct {
	AccountID       string
	RoleIDs, Groups []string
	AllMembers      bool
	// Except is a user left out of the count.
	Except string
}

// Concerned counts the users of a change, each once. Those of a role have it assigned anywhere in the account,
// themselves or through a group, in any state.
func (c Collections) Concerned(ctx context.Context, tx store.Tx, concern Concern) (int, error) {
	if concern.AllMembers {
		n, err := c.Users.Count(ctx, tx, store.Query{Index: ByAccount, Equal: []store.Value{store.String(concern.AccountID)}})
		if err != nil {
			return 0, err
		}
		except, err := store.Lookup(c.Users.Get(ctx, tx, concern.Except))
		if err == nil && except != nil && except.Value.AccountID == concern.AccountID {
			n--
		}
		return n, err
	}
	users, groups := map[string]bool{}, map[string]bool{}
	for _, group := range concern.Groups {
		groups[group] = true
	}
	for _, role := range concern.RoleIDs {
		held, err := c.Assignments.Find(ctx, tx, store.Query{Index: ByRole, Equal: []store.Value{store.String(concern.AccountID), store.String(role)}})
		if err != nil {
			return 0, err
		}
		for _, rec := range held {
			if rec.Value.AssigneeType == resources.AssigneeGroup {
				groups[rec.Value.AssigneeID] = true
			} else {
				users[rec.Value.AssigneeID] = true
			}
		}
	}
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		members, err := c.membersAfter(ctx, tx, group, "", 0)
		if err != nil {
			return 0, err
		}
		for _, user := range members {
			users[user] = true
		}
	}
	delete(users, concern.Except)
	return len(users), nil
}
