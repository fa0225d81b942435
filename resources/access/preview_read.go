package access

import (
	"cmp"
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// Kinds of change that a preview takes. kindAssign is a step of a fix, too.
const (
	kindAssign      = resources.StepAssign
	kindRevoke      = "revoke"
	kindRolePut     = "role_put"
	kindRoleDelete  = "role_delete"
	kindGroupAdd    = "group_add"
	kindGroupRemove = "group_remove"
	kindUserStatus  = "user_status"
)

// preview reads changes and their facts in one snapshot.
type preview struct {
	*Service
	tx       store.Tx
	account  string
	now      resources.Time
	problems wire.Problems
	changes  []*previewed
	// roles are those that a change before has replaced, made or deleted: a new role by its name, nil for a deleted one.
	roles map[string]*resources.Role
}

// previewed is one change.
type previewed struct {
	body *wire.Object
	kind string
	now  resources.Time
	// role is the id of a role. A new role has its name for it.
	role, user, group, project, resource string
	until                                resources.Time
	status                               string
	// definition is the role to assign, or the result of a role_put.
	definition *resources.Role
}

// read reads the changes of a body. The error has all problems, or is the store's.
func (p *preview) read(ctx context.Context, raw []byte) error {
	r := wire.Request{Body: raw}
	body := r.ParseObject(&p.problems)
	items, more, ok := body.Objects("changes", maxPreviewed)
	switch {
	case !body.Has("changes"):
		body.Add("changes", "is missing; 1 to %d changes are needed", maxPreviewed)
	case ok && len(items) == 0, more:
		body.Add("changes", "must have 1 to %d items", maxPreviewed)
	}
	body.Done()
	for _, item := range items {
		c := &previewed{body: item, now: p.now}
		if err := p.readChange(ctx, c); err != nil {
			return err
		}
		p.changes = append(p.changes, c)
	}
	return p.problems.Err()
}

// readChange reads one change and compares it with the account as the changes before it make it.
func (p *preview) readChange(ctx context.Context, c *previewed) error {
	c.kind = c.body.OneOf("kind", "", kindAssign, kindRevoke, kindRolePut, kindRoleDelete, kindGroupAdd, kindGroupRemove, kindUserStatus)
	var err error
	switch c.kind {
	case kindAssign, kindRevoke:
		err = p.readAssignment(ctx, c)
	case kindRolePut:
		err = p.readRolePut(ctx, c)
	case kindRoleDelete:
		c.role = c.body.Required("role")
		if _, err = p.customRole(ctx, c); err == nil {
			p.roles[c.role] = nil
		}
	case kindGroupAdd, kindGroupRemove:
		c.group, c.user = c.id("group_id"), c.id("user_id")
		err = p.checkAssignees(ctx, c)
	case kindUserStatus:
		c.user = c.id("user_id")
		if c.status = c.body.OneOf("status", "", resources.UserStatuses()...); !c.body.Has("status") {
			c.body.Add("status", "is missing")
		}
		err = p.checkAssignees(ctx, c)
	default:
		if !c.body.Has("kind") {
			c.body.Add("kind", "is missing")
		}
		return nil // its other fields are nobody's
	}
	c.body.Done()
	return err
}

// readAssignment reads an assignment to make or to revoke. Whether one to revoke exists shows when the changes are made.
func (p *preview) readAssignment(ctx context.Context, c *previewed) (err error) {
	c.role = c.body.Required("role")
	var userSent, groupSent bool
	c.user, userSent = c.optionalID("user_id")
	c.group, groupSent = c.optionalID("group_id")
	if userSent == groupSent {
		c.body.Add("user_id", "is needed, or group_id, and not both")
	}
	place := assignmentInput{}
	c.project, place.projectSent = c.optionalID("project_id")
	place.readResource(c.body, "resource_id")
	place.project, c.resource = c.project, place.resource
	if err := p.checkAssignees(ctx, c); err != nil || c.kind == kindRevoke {
		return err
	}
	if t, ok := c.body.Time("until"); ok {
		if c.until = t; t <= p.now {
			c.body.Add("until", "must be in the future")
		}
	}
	if c.definition, err = p.usableRole(ctx, c.role); err != nil {
		return err
	}
	var problems wire.Problems
	switch {
	case c.definition != nil:
		checkPlace(&problems, *c.definition, &place)
	case c.role != "":
		c.body.Add("role", notRole)
	}
	if c.project != "" {
		state, err := p.c.ProjectState(ctx, p.tx, p.account, c.project)
		if err != nil {
			return err
		}
		checkProjectState(&problems, state)
	}
	return c.adopt(problems.Err(), map[string]string{"": "role", "projectId": "project_id", "resourceId": "resource_id"})
}

// readRolePut reads a role in place of another one, or without a role a new one.
func (p *preview) readRolePut(ctx context.Context, c *previewed) error {
	input := &roleInput{}
	input.read(c.body, "")
	if !c.body.Has("role") {
		return p.readNewRole(ctx, c, input)
	}
	c.role, _ = c.body.Text("role")
	role, err := p.customRole(ctx, c)
	if err != nil || role == nil {
		return err
	}
	if err := c.adopt(input.checkReplacement(&store.Record[resources.Role]{Value: *role}), nil); err != nil {
		return err
	}
	defined := *role
	defined.Permissions, defined.Status = input.permissions, cmp.Or(input.status, defined.Status)
	c.definition, p.roles[c.role] = &defined, &defined
	return nil
}

// readNewRole reads a new role, which later changes name by its name.
func (p *preview) readNewRole(ctx context.Context, c *previewed, input *roleInput) error {
	used, err := p.usableRole(ctx, input.name)
	if err != nil {
		return err
	}
	if used != nil || p.checkRoleName(input.name) != nil {
		c.body.Add("name", "is in use")
	}
	input.checkNew(&input.problems)
	err = p.checkNewRole(ctx, p.tx, &wire.Request{Params: map[string]string{"accountId": p.account}}, input)
	if err := c.adopt(err, nil); err != nil || input.name == "" {
		return err
	}
	c.role = input.name
	c.definition = &resources.Role{
		ID: input.name, Name: input.name, Scope: input.scope, Status: cmp.Or(input.status, resources.StatusActive), IsCustom: true,
		Permissions: input.permissions, AccountID: p.account, ProjectID: input.project,
	}
	p.roles[c.role] = c.definition
	return nil
}

// adopt adds the problems of an error as those of the change; names are other names of their fields. It returns any other
// error.
func (c *previewed) adopt(err error, names map[string]string) error {
	if err == nil || !resources.IsKind(err, resources.KindBadRequest) {
		return err
	}
	for _, problem := range resources.AsError(err).Problems {
		field, renamed := names[problem.Field]
		if !renamed {
			field = problem.Field
		}
		c.body.Add(field, "%s", problem.Text)
	}
	return nil
}

// notRole is the problem of an absent role, and of another account's.
const notRole = "is not a role of this account"

// usableRole returns the role as the changes before make it, nil for none.
func (p *preview) usableRole(ctx context.Context, id string) (*resources.Role, error) {
	if role, changed := p.roles[id]; changed {
		return role, nil
	}
	if !resources.ValidID(id) {
		return nil, nil
	}
	rec, err := p.findRole(ctx, p.tx, p.account, id)
	if err != nil || rec == nil {
		return nil, err
	}
	return &rec.Value, nil
}

// customRole returns the change's custom role. It adds a problem for any other.
func (p *preview) customRole(ctx context.Context, c *previewed) (*resources.Role, error) {
	role, err := p.usableRole(ctx, c.role)
	switch {
	case err != nil || c.role == "" && !c.body.Has("role"):
		return nil, err
	case role == nil:
		c.body.Add("role", notRole)
	case !role.IsCustom:
		c.body.Add("role", "is a system role, which is read only")
		return nil, nil
	}
	return role, nil
}

// optionalID reads an id. sent is true for a malformed one too, and false for "".
func (c *previewed) optionalID(name string) (id string, sent bool) {
	id, readable := readBodyID(c.body, name)
	return id, id != "" || !readable
}

// id reads a required id.
func (c *previewed) id(name string) string {
	id, readable := readBodyID(c.body, name)
	if id == "" && readable {
		c.body.Add(name, "is missing")
	}
	return id
}

// checkAssignees adds a problem for a user and a group that the account does not have.
func (p *preview) checkAssignees(ctx context.Context, c *previewed) error {
	for _, named := range [...]struct{ field, kind, id string }{
		{"user_id", resources.AssigneeUser, c.user}, {"group_id", resources.AssigneeGroup, c.group},
	} {
		if named.id == "" {
			continue
		}
		exists, err := p.assigneeExists(ctx, p.tx, p.account, named.kind, named.id)
		if err != nil {
			return err
		}
		if !exists {
			c.body.Add(named.field, "is not a %s of this account", assigneeNoun(named.kind))
		}
	}
	return nil
}
