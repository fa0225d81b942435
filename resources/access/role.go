package access

import (
	"cmp"
	"context"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// Nouns of errors.
const (
	nounRole           = "role"
	nounRoleAssignment = "role assignment"
)

// roleRoutes returns the handlers of roles and their assignments.
func (s *Service) roleRoutes() wire.Routes {
	return wire.Named("access", wire.Routes{
		"change.list":                  s.listChanges,
		"action.list":                  s.listActions,
		"role.create":                  s.Idempotency.Create("role.create", s.createRole),
		"role.list":                    s.listRoles,
		"role.get":                     s.getRole,
		"role.replace":                 s.replaceRole,
		"role.delete":                  s.deleteRole,
		"role_assignment.list_of_user": s.listUserRoles,
		"role_assignment.list_of_role": s.listRoleAssignments,
		"role_assignment.list":         s.listAssignments,
		"role_assignment.put":          s.putAssignment,
		"role_assignment.revoke":       s.revokeAssignment,
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

// changeRoles begins a change and makes it in one transaction. A NotFound error of change commits
// too, so its response comes when the absence is in force on every replica.
func (s *Service) changeRoles(
	ctx context.Context, r *wire.Request, action string, change func(tx store.Tx, actor resources.Facts) error,
) error {
	return store.CommitNotFound(ctx, s.Store, func(tx store.Tx) error {
		actor, err := s.beginChange(ctx, tx, r, action)
		if err != nil {
			return err
		}
		return change(tx, actor)
	})
}

// systemRoles returns the system roles of policy, sorted by id.
func (s *Service) systemRoles() []resources.Role {
	roles := slices.Clone(s.SystemRoles())
	slices.SortFunc(roles, func(a, b resources.Role) int { return cmp.Compare(a.ID, b.ID) })
	return roles
}

// findRole reads a role usable by the account, nil for none. It is a system role, without a
// revision, or a custom role of the account.
func (s *Service) findRole(ctx context.Context, tx store.Tx, account, id string) (*store.Record[resources.Role], error) {
	for _, role := range s.SystemRoles() {
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

// findRoles is findRole for several roles, by their ids.
func (s *Service) findRoles(ctx context.Context, tx store.Tx, account string, ids []string) (map[string]resources.Role, error) {
	slices.Sort(ids)
	records, err := s.c.Roles.GetAll(ctx, tx, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	out := map[string]resources.Role{}
	for id, rec := range records {
		if rec.Value.AccountID == account {
			out[id] = rec.Value
		}
	}
	for _, role := range s.SystemRoles() {
		out[role.ID] = role
	}
	return out, nil
}
