package access

import (
	"context"
	"fmt"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// mayDefine refuses a role with permissions that the caller does not hold. For a role of one
// project the caller must hold them at account level or in that project. Permissions that the
// caller holds for a time do not count, since a role does not expire.
func (s *Service) mayDefine(
	ctx context.Context, tx store.Tx, caller resources.Principal, actor resources.Facts, role resources.Role,
) error {
	grant := resources.Question{
		Principal: caller, AccountID: role.AccountID, Facts: actor, Grant: &resources.Grant{Permissions: role.Permissions},
	}
	err := s.mayGrant(ctx, grant)
	if role.ProjectID == "" || !resources.IsKind(err, resources.KindForbidden) {
		return err
	}
	grant.Target.ProjectID = role.ProjectID
	if grant.Facts.ProjectState, err = s.c.ProjectState(ctx, tx, role.AccountID, role.ProjectID); err != nil {
		return err
	}
	return s.mayGrant(ctx, grant)
}

// checkPlace adds the problems of a role that can't be assigned at the place of the request.
func checkPlace(p *wire.Problems, role resources.Role, input *assignmentInput) {
	if role.Status != resources.StatusActive {
		p.Add("", "the role %s is not ACTIVE and can't be assigned", role.ID)
	}
	if role.Scope == resources.RoleScopeAccount {
		if input.projectSent {
			p.Add("projectId", "an ACCOUNT role is assigned without a project")
		}
	} else if !input.projectSent {
		p.Add("projectId", "is missing; a %s role is assigned in a project", role.Scope)
	}
	if role.Scope == resources.RoleScopeResource {
		if !input.resourceSent {
			p.Add("resourceId", "is missing; a RESOURCE role is assigned on <collection>/<id>")
		}
	} else if input.resourceSent {
		p.Add("resourceId", "only a RESOURCE role is assigned on a resource")
	}
	if role.ProjectID != "" && input.project != "" && input.project != role.ProjectID {
		p.Add("projectId", "the role %s belongs to another project and can be assigned there only", role.ID)
	}
}

// checkProjectState adds a problem to a project that is not active. A project of another account
// is absent.
func checkProjectState(p *wire.Problems, state string) {
	if state != resources.ProjectActive {
		p.Add("projectId", "is not an active project of this account")
	}
}

// readBodyID reads a plain identifier. readable is false for a malformed one.
func readBodyID(body *wire.Object, name string) (id string, readable bool) {
	id, ok := body.Text(name)
	if ok && id != "" && !resources.ValidID(id) {
		body.Add(name, resources.IDRule)
		return "", false
	}
	return id, ok || !body.Has(name)
}

// validResource says whether s is <collection>/<id>, each a segment of a path that can be
// decided about.
func validResource(s string) bool {
	collection, id, ok := strings.Cut(s, "/")
	return ok && validSegment(collection) && validSegment(id)
}

// validSegment accepts plain identifiers. It refuses dot segments, since no path may have them, and
// "accounts" and "projects", since they would make a path ambiguous.
func validSegment(s string) bool { return resources.ValidID(s) && resources.ValidPathSegment(s) }

// indexed returns the path of an item of an array.
func indexed(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }
