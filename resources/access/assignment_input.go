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
	input := &assignmentInput{account: r.Params["accountId"], role: r.Params["roleId"], assignee: r.Params["assigneeId"]}
	p := &input.problems
	q := r.ParseQuery(p)
	inQuery, projectInQuery := q.ID("projectId"), q.Text("projectId") != ""
	q.Done()
	body := r.ParseObject(p)
	input.kind = body.OneOf("assigneeType", resources.AssigneeUser, resources.AssigneeTypes()...)
	var readable bool
	if input.current, readable = readBodyID(body, "roleId"); readable && input.current == "" && body.Has("roleId") {
		body.Add("roleId", "must not be empty; leave it out to grant the role as a new assignment")
	}
	input.project, readable = readBodyID(body, "projectId")
	input.projectSent = input.project != "" || projectInQuery || !readable
	switch {
	case !projectInQuery:
	case !body.Has("projectId"):
		input.project = inQuery
	case readable && inQuery != "" && input.project != inQuery:
		p.Add("projectId", "query and body name different projects")
	}
	input.status = body.OneOf("status", resources.StatusActive, resources.StatusActive, resources.StatusInactive)
	if t, ok := body.Time("expiresAt"); ok {
		if input.expires = t; t <= now {
			body.Add("expiresAt", "must be in the future")
		}
	}
	input.readResource(body, "resourceId")
	body.Done()
	return input
}

// readResource reads the resource from the field of that name.
func (a *assignmentInput) readResource(body *wire.Object, name string) {
	a.resourceSent = body.Has(name)
	a.resource, _ = body.Text(name)
	if a.resource != "" && !validResource(a.resource) {
		body.Add(name, resourceForm)
		a.resource = ""
	}
	if a.resourceSent && a.resource == "" {
		text, ok := body.Text(name) // "" counts as absent
		a.resourceSent = !ok || text != ""
	}
}

// resourceForm describes a resourceId to callers.
const resourceForm = "must have the form <collection>/<id>, each 1 to 128 characters of [A-Za-z0-9._@-]"

// granted returns the assignment that the request asks for.
func (a *assignmentInput) granted(role resources.Role) resources.Assignment {
	return resources.Assignment{
		AccountID: a.account, RoleID: role.ID, RoleScope: role.Scope, AssigneeType: a.kind, AssigneeID: a.assignee,
		ProjectID: a.project, ResourceID: a.resource, Status: a.status, ExpiresAt: a.expires,
	}
}

// replaced returns the assignment of the current role: at the same place, or at account level
// for an ACCOUNT role.
func (a *assignmentInput) replaced(current resources.Role) resources.Assignment {
	out := a.granted(current)
	if current.Scope == resources.RoleScopeAccount {
		out.ProjectID, out.ResourceID = "", ""
	}
	return out
}
