package records

import (
	"context"
	"maps"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// Holding names roles at a place, and what is wanted of their holders.
type Holding struct {
	AccountID string
	RoleIDs   []string
	// ProjectID and ResourceID are "" for a place outside of projects or resources.
	ProjectID, ResourceID string
	// After is the user before the first result; Limit is at least 1.
	After string
	Limit int
}

// Holders returns users with one of the roles assigned on the place, themselves or through a group: the first Limit of
// them by id. It looks neither at the state of an assignment nor at the user. It costs as much as there are roles and
// groups, and reads no more users of each than Limit.
func (c Collections) Holders(ctx context.Context, tx store.Tx, h Holding) ([]string, error) {
	var names []string
	groups := map[string]bool{}
	for _, role := range h.RoleIDs {
		for _, place := range h.places() {
			users, err := c.holdersAt(ctx, tx, h, role, place, resources.AssigneeUser, h.After, h.Limit)
			if err != nil {
				return nil, err
			}
			held, err := c.holdersAt(ctx, tx, h, role, place, resources.AssigneeGroup, "", 0)
			if err != nil {
				return nil, err
			}
			names = append(names, users...)
			for _, group := range held {
				groups[group] = true
			}
		}
	}
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		users, err := c.membersAfter(ctx, tx, group, h.After, h.Limit)
		if err != nil {
			return nil, err
		}
		names = append(names, users...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), h.Limit)], nil
}

// scope is where an assignment grants: the account, a project or a resource.
type scope struct{ project, resource string }

// places returns the scopes that cover the place: the account, the project, the resource.
func (h Holding) places() []scope {
	out := []scope{{}}
	if h.ProjectID != "" {
		out = append(out, scope{h.ProjectID, ""})
		if h.ResourceID != "" {
			out = append(out, scope{h.ProjectID, h.ResourceID})
		}
	}
	return out
}

// holdersAt returns the role's assignees at that place, by id.
func (c Collections) holdersAt(
	ctx context.Context, tx store.Tx, h Holding, role string, s scope, kind, after string, limit int,
) ([]string, error) {
	q := store.Query{Index: ByHolder, Limit: limit, Equal: []store.Value{
		store.String(h.AccountID), store.String(role), store.String(compositeKey(s.project, s.resource)), store.String(kind),
	}}
	if after != "" {
		q.After = &store.Cursor{Values: []store.Value{store.String(after)}, Key: AssignmentID(resources.Assignment{
			AccountID: h.AccountID, RoleID: role, AssigneeType: kind, AssigneeID: after, ProjectID: s.project, ResourceID: s.resource,
		})}
	}
	return firstValues(tx.Scan(ctx, c.Assignments.Schema(), q))
}

// membersAfter returns, by id, the members of a group.
func (c Collections) membersAfter(ctx context.Context, tx store.Tx, group, after string, limit int) ([]string, error) {
	q := store.Query{Index: ByMember, Equal: []store.Value{store.String(group)}, Limit: limit}
	if after != "" {
		q.After = &store.Cursor{Values: []store.Value{store.String(after)}, Key: MemberID(group, after)}
	}
	return firstValues(tx.Scan(ctx, c.Members.Schema(), q))
}

func firstValues(places []store.Cursor, err error) ([]string, error) {
	out := make([]string, len(places))
	for i, cursor := range places {
		out[i] = cursor.Values[0].Text()
	}
	return out, err
}

// CustomRolesWith returns the custom roles of the account with one of the patterns.
func (c Collections) CustomRolesWith(ctx context.Context, tx store.Tx, account string, patterns [8]string) ([]string, error) {
	recs, err := c.Roles.Find(ctx, tx, store.Query{Index: ByName, Equal: []store.Value{store.String(account)}})
	if err != nil {
		return nil, err
	}
	var out []string
	for _, rec := range recs {
		if slices.ContainsFunc(rec.Value.Permissions, func(p string) bool { return slices.Contains(patterns[:], p) }) {
			out = append(out, rec.Value.ID)
		}
	}
	return out, nil
}
