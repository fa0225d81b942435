package access

import (
	"cmp"
	"context"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// Nouns of what may be absent.
const (
	nounRole           = "role"
	nounRoleAssignment = "role assignment"
)

// RoleRoutes are the handlers of roles and their assignments.
func (s *Service) RoleRoutes() wire.Routes {
	return wire.Named("access", wire.Routes{
		"role.list": s.listRoles, "role_assignment.list_of_user": s.listUserRoles, "role_assignment.put": s.putAssignment, "role_assignment.revoke": s.revokeAssignment,
		"role.create": s.Idempotency.Create("role.create", s.createRole), "role.get": s.getRole, "role.replace": s.replaceRole, "role.delete": s.deleteRole,
		"role_assignment.list_of_role": s.listRoleAssignments,
	})
}

// getRole answers role.get (N6).
func (s *Service) getRole(ctx context.Context, r *wire.Request) (wire.Response, error) {
	if err := r.Bare(); err != nil {
		return wire.Response{}, err
	}
	var role *store.Record[resources.Role]
	err := s.Store.View(ctx, func(tx store.Tx) (err error) {
		role, err = s.findRole(ctx, tx, r.Params["accountId"], r.Params["roleId"])
		return err
	})
	if err != nil {
		return wire.Response{}, err
	}
	if role == nil {
		return wire.Response{}, resources.NotFound(nounRole)
	}
	return wire.OK(role.Value)
}

// changeRoles makes one change to the account's roles: the revision moves first, so
// that writers of the account queue; then the actor's right is read anew. That there is
// nothing to change is an outcome that is committed.
func (s *Service) changeRoles(
	ctx context.Context, r *wire.Request, action string, fn func(tx store.Tx, actor resources.Facts) error,
) error {
	return store.CommitNotFound(ctx, s.Store, func(tx store.Tx) error {
		actor, err := s.changing(ctx, tx, r, action)
		if err != nil {
			return err
		}
		return fn(tx, actor)
	})
}

// systemRoles are the policy's roles in their fixed order.
func (s *Service) systemRoles() []resources.Role {
	roles := slices.Clone(s.Judge.Roles())
	slices.SortFunc(roles, func(a, b resources.Role) int { return cmp.Compare(a.ID, b.ID) })
	return roles
}

// findRole gives a role that the account can use: a system role (not IsCustom, no
// revision) or one of its own. Another account's is nothing, like an absent one.
func (s *Service) findRole(ctx context.Context, tx store.Tx, account, id string) (*store.Record[resources.Role], error) {
	for _, role := range s.Judge.Roles() {
		if role.ID == id {
			return &store.Record[resources.Role]{Value: role}, nil
		}
	}
	rec, err := store.Lookup(s.c.Roles.Get(ctx, tx, id))
	if err != nil || rec == nil || rec.Value.AccountID != account {
		return nil, err
	}
	return rec, nil
}
