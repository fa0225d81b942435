package access

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// createRole answers role.create (N5).
func (s *Service) createRole(_ context.Context, r *wire.Request) (idempotency.Commit, error) {
	input := readRole(r, resources.StatusActive)
	input.checkNew(&input.problems)
	now := s.now()
	role := resources.Role{
		ID: s.IDs.New(resources.PrefixRole), Name: input.name, Scope: input.scope, Status: input.status, IsCustom: true,
		Permissions: input.permissions, AccountID: r.Params["accountId"], ProjectID: input.project,
		Description: input.description, CreatedBy: r.Principal.ID, CreatedAt: now, UpdatedAt: now,
	}
	return func(ctx context.Context, tx store.Tx) (wire.Response, error) {
		if err := s.makeRole(ctx, tx, r, input, role); err != nil {
			return wire.Response{}, err
		}
		return wire.Created(role)
	}, nil
}

// makeRole stores a new role, if the caller may define it.
func (s *Service) makeRole(ctx context.Context, tx store.Tx, r *wire.Request, input *roleInput, role resources.Role) error {
	actor, err := s.beginChange(ctx, tx, r, "account:role:create")
	if err != nil {
		return err
	}
	if err := s.checkNewRole(ctx, tx, r, input); err != nil {
		return err
	}
	if err := s.mayDefine(ctx, tx, r.Principal, actor, role); err != nil {
		return err
	}
	if err := s.checkRoleName(role.Name); err != nil {
		return err
	}
	return roleConflict(s.c.Roles.Insert(ctx, tx, role))
}

// checkNewRole refuses a wrong body, with all problems.
func (s *Service) checkNewRole(ctx context.Context, tx store.Tx, r *wire.Request, input *roleInput) error {
	p := input.problems
	if input.project != "" {
		state, err := s.c.ProjectState(ctx, tx, r.Params["accountId"], input.project)
		if err != nil {
			return err
		}
		checkProjectState(&p, state)
	}
	return p.Err()
}

// checkRoleName refuses the name or id of a system role. The store refuses the names of the
// account's other roles.
func (s *Service) checkRoleName(name string) error {
	for _, role := range s.SystemRoles() {
		if name == role.Name || name == role.ID {
			return roleNameInUse()
		}
	}
	return nil
}

// roleConflict returns the error of a write, with a conflict in place of a duplicate name.
func roleConflict(err error) error {
	if store.IsDuplicate(err, records.ByName) {
		return roleNameInUse()
	}
	return err
}

func roleNameInUse() error {
	return resources.Conflict("A role of this account or a system role has this name already.")
}
