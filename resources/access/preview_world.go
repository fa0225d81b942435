package access

import (
	"context"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/records"
)

// previewWorld is the part of an account that changes touch, in memory. It is changed; what was read is not.
type previewWorld struct {
	people []*resources.Subject
	// members are the people in each group that a change names; groups has the assignments of each.
	members map[string]map[string]bool
	groups  map[string][]resources.HeldRole
}

// world returns the people and the groups of the changes before these.
func (p *preview) world(ctx context.Context, people []*resources.Subject) (*previewWorld, error) {
	w := &previewWorld{members: map[string]map[string]bool{}}
	for _, person := range people {
		after := person.Clone()
		after.Assignments = slices.Clone(after.Assignments)
		w.people = append(w.people, after)
	}
	var groups []string
	for _, c := range p.changes {
		if c.group == "" || w.members[c.group] != nil {
			continue
		}
		groups, w.members[c.group] = append(groups, c.group), map[string]bool{}
		ids := make([]string, len(people))
		for i, person := range people {
			ids[i] = records.MemberID(c.group, person.UserID)
		}
		stored, err := p.c.Members.GetAll(ctx, p.tx, ids)
		if err != nil {
			return nil, err
		}
		for _, rec := range stored {
			w.members[c.group][rec.Value.UserID] = true
		}
	}
	var err error
	w.groups, err = p.c.GroupRoles(ctx, p.tx, p.account, groups)
	return w, err
}

// make makes a change.
func (w *previewWorld) make(c *previewed) {
	switch c.kind {
	case kindAssign:
		held := c.definition.Held(c.project, c.resource)
		held.GroupID, held.ExpiresAt, held.CreatedAt, held.UpdatedAt = c.group, c.until, c.now, c.now
		w.eachHolder(c, func(assignments []resources.HeldRole) []resources.HeldRole { return assigned(assignments, held) })
	case kindRevoke:
		held, revoked := resources.HeldRole{RoleID: c.role, GroupID: c.group, ProjectID: c.project, ResourceID: c.resource}, false
		w.eachHolder(c, func(assignments []resources.HeldRole) []resources.HeldRole {
			rest := slices.DeleteFunc(assignments, func(h resources.HeldRole) bool { return samePlace(h, held) })
			revoked = revoked || len(rest) < len(assignments)
			return rest
		})
		if !revoked {
			c.body.Add("role", "is not assigned like this")
		}
	case kindRolePut:
		w.each(func(assignments []resources.HeldRole) []resources.HeldRole {
			resources.Redefine(assignments, c.role, func(held *resources.HeldRole) {
				held.RoleStatus, held.Permissions = c.definition.Status, c.definition.Permissions
			})
			return assignments
		})
	case kindRoleDelete:
		w.each(func(assignments []resources.HeldRole) []resources.HeldRole {
			return slices.DeleteFunc(assignments, func(h resources.HeldRole) bool { return h.RoleID == c.role })
		})
	case kindGroupAdd, kindGroupRemove, kindUserStatus:
		w.changePerson(c)
	}
}

// changePerson makes a change of one person alone.
func (w *previewWorld) changePerson(c *previewed) {
	for _, person := range w.people {
		switch {
		case person.UserID != c.user:
		case c.kind == kindUserStatus:
			person.UserStatus = c.status
		case c.kind == kindGroupRemove:
			delete(w.members[c.group], c.user)
			person.Assignments = slices.DeleteFunc(person.Assignments, func(h resources.HeldRole) bool { return h.GroupID == c.group })
		case !w.members[c.group][c.user]:
			w.members[c.group][c.user] = true
			person.Assignments = append(person.Assignments, w.groups[c.group]...)
		}
	}
}

// each changes the assignments of all people and groups.
func (w *previewWorld) each(change func([]resources.HeldRole) []resources.HeldRole) {
	for _, person := range w.people {
		person.Assignments = change(person.Assignments)
	}
	for group := range w.groups {
		w.groups[group] = change(w.groups[group])
	}
}

// eachHolder changes the assignments of the change's user, or of its group and the members.
func (w *previewWorld) eachHolder(c *previewed, change func([]resources.HeldRole) []resources.HeldRole) {
	if c.group != "" {
		w.groups[c.group] = change(w.groups[c.group])
	}
	for _, person := range w.people {
		if person.UserID == c.user || c.group != "" && w.members[c.group][person.UserID] {
			person.Assignments = change(person.Assignments)
		}
	}
}

// assigned adds an assignment. It replaces one of the same role and place.
func assigned(assignments []resources.HeldRole, held resources.HeldRole) []resources.HeldRole {
	for i := range assignments {
		if samePlace(assignments[i], held) {
			held.CreatedAt = assignments[i].CreatedAt
			assignments[i] = held
			return assignments
		}
	}
	return append(assignments, held)
}
