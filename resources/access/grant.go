package access

import (
	"context"
	"fmt"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// mayDefine refuses a role with more in it than the caller has at account level or
// also, for a role of one project, there. A role has no end, so neither may what the
// caller holds.
func (s *Service) mayDefine(
	ctx context.Context, tx store.Tx, caller resources.Principal, actor resources.Facts, role resources.Role,
) error {
	grant := resources.Grant{
		Principal: caller, AccountID: role.AccountID, Facts: actor, Permissions: role.Permissions,
	}
	err := s.mayGrant(ctx, grant)
	if role.ProjectID == "" || !resources.IsKind(err, resources.KindForbidden) {
		return err
	}
	grant.ProjectID = role.ProjectID
	if grant.Facts.ProjectState, err = s.c.ProjectState(ctx, tx, role.AccountID, role.ProjectID); err != nil {
		return err
	}
	return s.mayGrant(ctx, grant)
}

// fitPlace notes why a role can't be assigned at that place.
func fitPlace(p *wire.Problems, role resources.Role, in *assignmentInput) {
	if role.Status != resources.StatusActive {
		p.Add("", "the role %s is not ACTIVE and can't be assigned", role.ID)
	}
	if role.Scope == resources.RoleScopeAccount {
		if in.projectSent {
			p.Add("projectId", "an ACCOUNT role is assigned without a project")
		}
	} else if !in.projectSent {
		p.Add("projectId", "is missing; a %s role is assigned in a project", role.Scope)
	}
	if role.Scope == resources.RoleScopeResource {
		if !in.resourceSent {
			p.Add("resourceId", "is missing; a RESOURCE role is assigned on <collection>/<id>")
		}
	} else if in.resourceSent {
		p.Add("resourceId", "only a RESOURCE role is assigned on a resource")
	}
	if role.ProjectID != "" && in.project != "" && in.project != role.ProjectID {
		p.Add("projectId", "the role %s belongs to another project and can be assigned there only", role.ID)
	}
}

// noteProject notes a project in which nothing can be granted; one that is another
// account's is absent.
func noteProject(p *wire.Problems, state string) {
	if state != resources.ProjectActive {
		p.Add("projectId", "is not an active project of this account")
	}
}

// readBodyID reads a plain identifier; readable is false when something else was sent.
func readBodyID(body *wire.Object, name string) (id string, readable bool) {
	id, ok := body.Text(name)
	if ok && id != "" && !resources.ValidID(id) {
		body.Add(name, resources.IDRule)
		return "", false
	}
	return id, ok || !body.Has(name)
}

// validResource says whether s is <collection>/<id>, both plain. A dot segment names
// no resource, since no path with one is ever judged.
func validResource(s string) bool {
	collection, id, ok := strings.Cut(s, "/")
	return ok && validSegment(collection) && validSegment(id)
}

// validSegment excludes also the words that would make every path with them ambiguous.
func validSegment(s string) bool {
	return resources.ValidID(s) && s != "." && s != ".." && !strings.EqualFold(s, "accounts") && !strings.EqualFold(s, "projects")
}

func indexed(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }
