package access

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// putAssignment answers role_assignment.put (E6).
func (s *Service) putAssignment(ctx context.Context, r *wire.Request) (wire.Response, error) {
	input := readAssignment(r, s.now())
	var made resources.Assignment
	err := s.changeRoles(ctx, r, "account:role_assignment:update", func(tx store.Tx, actor resources.Facts) (err error) {
		if actor.ProjectState, err = s.c.ProjectState(ctx, tx, input.account, input.project); err != nil {
			return err
		}
		role, current, err := s.assignmentRoles(ctx, tx, input, actor.ProjectState)
		if err != nil {
			return err
		}
		replaced, err := s.replacedAssignment(ctx, tx, input, current)
		if err != nil {
			return err
		}
		if current != nil && replaced == nil {
			return resources.NotFound(nounRoleAssignment)
		}
		if err := s.mayGrant(ctx, resources.Question{
			Principal: r.Principal, AccountID: input.account, Facts: actor, Target: resources.TargetAt(input.project, input.resource),
			Grant: &resources.Grant{Permissions: role.Permissions, Until: input.expires},
		}); err != nil {
			return err
		}
		now := s.now()
		change := records.RoleChange{AccountID: input.account, Caller: r.Principal, Now: now, RoleIDs: []string{input.role, input.current}}
		return s.c.KeepAdmins(ctx, tx, change, func() error {
			made, err = s.writeAssignment(ctx, tx, input.granted(*role), replaced, now)
			return err
		})
	})
	return wire.Answer(assignmentBodyOf(made, s.now()), err)
}

// assignmentRoles returns the role of the path and the role that it replaces, nil for none. It
// refuses a wrong request with all problems, and a role or an assignee that does not exist.
func (s *Service) assignmentRoles(
	ctx context.Context, tx store.Tx, input *assignmentInput, projectState string,
) (role, current *resources.Role, err error) {
	record, err := s.findRole(ctx, tx, input.account, input.role)
	if err != nil {
		return nil, nil, err
	}
	p := input.problems
	if input.project != "" {
		checkProjectState(&p, projectState)
	}
	if record != nil {
		checkPlace(&p, record.Value, input)
	}
	if input.current != "" {
		rec, err := s.findRole(ctx, tx, input.account, input.current)
		if err != nil {
			return nil, nil, err
		}
		if rec == nil {
			p.Add("roleId", "is not a role of this account")
		} else {
			current = &rec.Value
		}
	}
	if err := p.Err(); err != nil {
		return nil, nil, err
	}
	if record == nil {
		return nil, nil, resources.NotFound(nounRole)
	}
	exists, err := s.assigneeExists(ctx, tx, input.account, input.kind, input.assignee)
	if err != nil {
		return nil, nil, err
	}
	if !exists {
		return nil, nil, resources.NotFound(assigneeNoun(input.kind))
	}
	return &record.Value, current, nil
}

// replacedAssignment reads the assignment of the current role, nil for none.
func (s *Service) replacedAssignment(
	ctx context.Context, tx store.Tx, input *assignmentInput, current *resources.Role,
) (*store.Record[resources.Assignment], error) {
	if current == nil {
		return nil, nil
	}
	return store.Lookup(s.c.Assignments.Get(ctx, tx, records.AssignmentID(input.replaced(*current))))
}

// writeAssignment stores the assignment and deletes the replaced one. It does not touch an equal
// assignment that exists.
func (s *Service) writeAssignment(
	ctx context.Context, tx store.Tx, want resources.Assignment, replaced *store.Record[resources.Assignment], now resources.Time,
) (resources.Assignment, error) {
	want.ID, want.CreatedAt, want.UpdatedAt = records.AssignmentID(want), now, now
	if replaced != nil && replaced.Value.ID != want.ID {
		if err := s.c.Assignments.Delete(ctx, tx, *replaced); err != nil {
			return want, err
		}
	}
	held, err := store.Lookup(s.c.Assignments.Get(ctx, tx, want.ID))
	switch {
	case err != nil:
		return want, err
	case held == nil:
		return want, s.c.Assignments.Insert(ctx, tx, want)
	case held.Value.Status == want.Status && held.Value.ExpiresAt == want.ExpiresAt && held.Value.RoleScope == want.RoleScope:
		return held.Value, nil
	}
	want.CreatedAt = held.Value.CreatedAt
	held.Value = want
	return want, s.c.Assignments.Replace(ctx, tx, *held)
}
