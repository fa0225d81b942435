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
		excluded, err := store.Lookup(c.Users.Get(ctx, tx, concern.Except))
		if err == nil && excluded != nil && excluded.Value.AccountID == concern.AccountID {
			n--
		}
		return n, err
	}
	users, _, err := c.Holding(ctx, tx, concern, 0)
	delete(users, concern.Except)
	return len(users), err
}

// Holding returns the holders of roles and the members of groups, by their ids. limit bounds the
// assignments read of each role and the members read of each group; 0 is unlimited. all says that nobody is missing.
func (c Collections) Holding(ctx context.Context, tx store.Tx, concern Concern, limit int) (users map[string]bool, all bool, err error) {
	users, all = map[string]bool{}, true
	groups := map[string]bool{}
	for _, group := range concern.Groups {
		groups[group] = true
	}
	for _, role := range concern.RoleIDs {
		held, err := c.Assignments.Find(ctx, tx, store.Query{
			Index: ByRole, Equal: []store.Value{store.String(concern.AccountID), store.String(role)}, Limit: limit,
		})
		if err != nil {
			return nil, false, err
		}
		all = all && (limit == 0 || len(held) < limit)
		for _, rec := range held {
			switch rec.Value.AssigneeType {
			case resources.AssigneeGroup:
				groups[rec.Value.AssigneeID] = true
			case resources.AssigneeUser:
				users[rec.Value.AssigneeID] = true
			}
		}
	}
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		members, err := c.membersAfter(ctx, tx, group, "", limit)
		if err != nil {
			return nil, false, err
		}
		all = all && (limit == 0 || len(members) < limit)
		for _, user := range members {
			users[user] = true
		}
	}
	return users, all, nil
}
