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
	in := readRole(r, resources.StatusActive)
	if !in.scopeSent {
		in.problems.Add("scope", "is missing")
	}
	if in.projectSent && in.scope == resources.RoleScopeAccount {
		in.problems.Add("projectId", "an ACCOUNT role has no project")
	}
	now := s.now()
	role := resources.Role{
		ID: s.IDs.New(resources.PrefixRole), Name: in.name, Scope: in.scope, Status: in.status, IsCustom: true,
		Permissions: in.permissions, AccountID: r.Params["accountId"], ProjectID: in.project,
		Description: in.description, CreatedBy: r.Principal.ID, CreatedAt: now, UpdatedAt: now,
	}
	return func(ctx context.Context, tx store.Tx) (wire.Response, error) {
		if err := s.makeRole(ctx, tx, r, in, role); err != nil {
			return wire.Response{}, err
		}
		return wire.Created(role)
	}, nil
}

func (s *Service) makeRole(ctx context.Context, tx store.Tx, r *wire.Request, in *roleInput, role resources.Role) error {
	actor, err := s.changing(ctx, tx, r, "account:role:create")
	if err != nil {
		return err
	}
	if err := s.checkNewRole(ctx, tx, r, in); err != nil {
		return err
	}
	if err := s.mayDefine(ctx, tx, r.Principal, actor, role); err != nil {
		return err
	}
	if err := s.nameIsFree(role.Name); err != nil {
		return err
	}
	return roleConflict(s.c.Roles.Insert(ctx, tx, role))
}

// checkNewRole tells all that is wrong with the body.
func (s *Service) checkNewRole(ctx context.Context, tx store.Tx, r *wire.Request, in *roleInput) error {
	p := in.problems
	in.fitScope(&p, in.scope)
	if in.project != "" {
		state, err := s.c.ProjectState(ctx, tx, r.Params["accountId"], in.project)
		if err != nil {
			return err
		}
		noteProject(&p, state)
	}
	return p.Err()
}

// nameIsFree refuses a name that would pass for a system role's. The account's own
// names are held apart by the store.
func (s *Service) nameIsFree(name string) error {
	for _, role := range s.Judge.Roles() {
		if name == role.Name || name == role.ID {
			return errRoleName()
		}
	}
	return nil
}

// roleConflict tells a name in use.
func roleConflict(err error) error {
	if store.IsDuplicate(err, records.ByName) {
		return errRoleName()
	}
	return err
}

func errRoleName() error {
	return resources.Conflict("A role of this account or a system role has this name already.")
}
