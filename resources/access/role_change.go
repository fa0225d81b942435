package access

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// replaceRole answers role.replace (N6): name, permissions and description are replaced, the
// status where one is sent (a role that was switched off is not switched on by
// silence); scope and project stay.
func (s *Service) replaceRole(ctx context.Context, r *wire.Request) (wire.Response, error) {
	in := readRole(r, "")
	var role resources.Role
	err := s.changeRoles(ctx, r, "account:role:update", func(tx store.Tx, actor resources.Facts) error {
		rec, err := s.findRole(ctx, tx, r.Params["accountId"], r.Params["roleId"])
		if err != nil {
			return err
		}
		if err := in.fitsRole(rec); err != nil {
			return err
		}
		if err := ownRole(rec); err != nil {
			return err
		}
		rec.Value.Name, rec.Value.Permissions, rec.Value.Description = in.name, in.permissions, in.description
		if in.status != "" {
			rec.Value.Status = in.status
		}
		rec.Value.UpdatedAt = s.now()
		role = rec.Value
		if err := s.mayDefine(ctx, tx, r.Principal, actor, role); err != nil {
			return err
		}
		if err := s.nameIsFree(role.Name); err != nil {
			return err
		}
		return roleConflict(s.c.Roles.Replace(ctx, tx, *rec))
	})
	if err != nil {
		return wire.Response{}, err
	}
	return wire.OK(role)
}

// fitsRole tells all that is wrong with the body for the role it is to replace.
func (in *roleInput) fitsRole(rec *store.Record[resources.Role]) error {
	p := in.problems
	if rec != nil && rec.Value.IsCustom {
		if in.scope != "" && in.scope != rec.Value.Scope {
			p.Add("scope", "can't be changed; it is %s", rec.Value.Scope)
		}
		if in.projectSent && in.projectReadable && in.project != rec.Value.ProjectID {
			p.Add("projectId", "can't be changed")
		}
		in.fitScope(&p, rec.Value.Scope)
	}
	return p.Err()
}

// deleteRole answers role.delete (N6). A role that was assigned is given back by everybody
// first, so no right ends here unseen.
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
		if err := ownRole(rec); err != nil {
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
	if err != nil {
		return wire.Response{}, err
	}
	return done("The role is deleted.")
}

// ownRole refuses a role that is not there, and one that is not the account's to change.
func ownRole(rec *store.Record[resources.Role]) error {
	if rec == nil {
		return resources.NotFound(nounRole)
	}
	if !rec.Value.IsCustom {
		return resources.Forbidden("System roles are read only.")
	}
	return nil
}
