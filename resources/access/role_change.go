package access

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// replaceRole answers role.replace (N6). It replaces name, permissions and description, and the
// status where the client sends one; scope and project stay.
func (s *Service) replaceRole(ctx context.Context, r *wire.Request) (wire.Response, error) {
	input := readRole(r, "")
	var role resources.Role
	err := s.changeRoles(ctx, r, "account:role:update", func(tx store.Tx, actor resources.Facts) error {
		rec, err := s.findRole(ctx, tx, r.Params["accountId"], r.Params["roleId"])
		if err != nil {
			return err
		}
		if err := input.checkReplacement(rec); err != nil {
			return err
		}
		if err := checkCustom(rec); err != nil {
			return err
		}
		rec.Value.Name, rec.Value.Permissions, rec.Value.Description = input.name, input.permissions, input.description
		if input.status != "" {
			rec.Value.Status = input.status
		}
		rec.Value.UpdatedAt = s.now()
		role = rec.Value
		if err := s.mayDefine(ctx, tx, r.Principal, actor, role); err != nil {
			return err
		}
		if err := s.checkRoleName(role.Name); err != nil {
			return err
		}
		return roleConflict(s.c.Roles.Replace(ctx, tx, *rec))
	})
	return wire.Answer(role, err)
}

// checkReplacement refuses a body that can't replace the role, with all problems.
func (r *roleInput) checkReplacement(rec *store.Record[resources.Role]) error {
	p := r.problems
	if rec != nil && rec.Value.IsCustom {
		if r.scope != "" && r.scope != rec.Value.Scope {
			p.Add("scope", "can't be changed; it is %s", rec.Value.Scope)
		}
		if r.projectSent && r.projectReadable && r.project != rec.Value.ProjectID {
			p.Add("projectId", "can't be changed")
		}
		r.checkScope(&p, rec.Value.Scope)
	}
	return p.Err()
}

// deleteRole answers role.delete (N6). It refuses a role that has assignments.
func (s *Service) deleteRole(ctx context.Context, r *wire.Request) (wire.Response, error) {
	if err := r.Bare(); err != nil {
		return wire.Response{}, err
	}
	account, id := r.Params["accountId"], r.Params["roleId"]
	err := s.changeRoles(ctx, r, "account:role:delete", func(tx store.Tx, _ resources.Facts) error {
		rec, err := s.findRole(ctx, tx, account, id)
		if err != nil {
			return err
		}
		if err := checkCustom(rec); err != nil {
			return err
		}
		used, err := s.c.Assignments.Count(ctx, tx, assignmentsOf(account, id))
		if err != nil {
			return err
		}
		if used > 0 {
			return resources.Conflict("The role is in use: it has %d assignments; revoke them first.", used)
		}
		return s.c.Roles.Delete(ctx, tx, *rec)
	})
	return done("The role is deleted.", err)
}

// checkCustom refuses a role that does not exist and a system role.
func checkCustom(rec *store.Record[resources.Role]) error {
	if rec == nil {
		return resources.NotFound(nounRole)
	}
	if !rec.Value.IsCustom {
		return resources.Forbidden("System roles are read only.")
	}
	return nil
}
