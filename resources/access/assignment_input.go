package access

import (
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// assignmentInput is the request of role_assignment.put. The transaction adds the problems that
// only the data tells.
type assignmentInput struct {
	problems                      wire.Problems
	account, role, assignee, kind string
	// current is the role that is to be replaced; "" grants a new assignment.
	current           string
	project, resource string
	// projectSent and resourceSent are true for malformed values too.
	projectSent, resourceSent bool
	status                    string
	expires                   resources.Time
}

// readAssignment reads the path, the query and the body of role_assignment.put.
func readAssignment(r *wire.Request, now resources.Time) *assignmentInput {
	in := &assignmentInput{account: r.Params["accountId"], role: r.Params["roleId"], assignee: r.Params["assigneeId"]}
	p := &in.problems
	q := r.ParseQuery(p)
	inQuery, projectInQuery := q.ID("projectId"), q.Text("projectId") != ""
	q.Done()
	body := r.ParseObject(p)
	in.kind = body.OneOf("assigneeType", resources.AssigneeUser, resources.AssigneeUser, resources.AssigneeGroup)
	var readable bool
	if in.current, readable = readBodyID(body, "roleId"); readable && in.current == "" && body.Has("roleId") {
		body.Add("roleId", "must not be empty; leave it out to grant the role as a new assignment")
	}
	in.project, readable = readBodyID(body, "projectId")
	in.projectSent = in.project != "" || projectInQuery || !readable
	switch {
	case !projectInQuery:
	case !body.Has("projectId"):
		in.project = inQuery
	case readable && inQuery != "" && in.project != inQuery:
		p.Add("projectId", "query and body name different projects")
	}
	in.status = body.OneOf("status", resources.StatusActive, resources.StatusActive, resources.StatusInactive)
	if t, ok := body.Time("expiresAt"); ok {
		if in.expires = t; t <= now {
			body.Add("expiresAt", "must be in the future")
		}
	}
	in.readResource(body)
	body.Done()
	return in
}

// readResource reads resourceId.
func (in *assignmentInput) readResource(body *wire.Object) {
	in.resourceSent = body.Has("resourceId")
	in.resource, _ = body.Text("resourceId")
	if in.resource != "" && !validResource(in.resource) {
		body.Add("resourceId", resourceForm)
		in.resource = ""
	}
	if in.resourceSent && in.resource == "" {
		text, ok := body.Text("resourceId") // "" counts as absent
		in.resourceSent = !ok || text != ""
	}
}

// resourceForm describes a resourceId to callers.
const resourceForm = "must have the form <collection>/<id>, each 1 to 128 characters of [A-Za-z0-9._@-]"

// granted returns the assignment that the request asks for.
func (in *assignmentInput) granted(role resources.Role) resources.Assignment {
	return resources.Assignment{
		AccountID: in.account, RoleID: role.ID, RoleScope: role.Scope, AssigneeType: in.kind, AssigneeID: in.assignee,
		ProjectID: in.project, ResourceID: in.resource, Status: in.status, ExpiresAt: in.expires,
	}
}

// replaced returns the assignment of the current role: at the same place, or at account level
// for an ACCOUNT role.
func (in *assignmentInput) replaced(current resources.Role) resources.Assignment {
	a := in.granted(current)
	if current.Scope == resources.RoleScopeAccount {
		a.ProjectID, a.ResourceID = "", ""
	}
	return a
}
