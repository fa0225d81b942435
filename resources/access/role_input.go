package access

import (
	"unicode/utf8"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// maxRolePatterns bounds the permissions of a role (API contract, N5).
const maxRolePatterns = 200

// roleInput is the body of role.create and role.replace. The transaction adds the problems that
// only the data tells.
type roleInput struct {
	problems                   wire.Problems
	name, scope, description   string
	status, project            string
	scopeSent, projectReadable bool
	projectSent                bool
	permissions                []string
}

// readRole reads the body of role.create and role.replace.
func readRole(r *wire.Request, defaultStatus string) *roleInput {
	input := &roleInput{}
	noQuery(r, &input.problems)
	body := r.ParseObject(&input.problems)
	input.read(body, defaultStatus)
	body.Done()
	return input
}

// read reads the fields of a role.
func (r *roleInput) read(body *wire.Object, defaultStatus string) {
	r.name = body.Name("name", maxName)
	r.scopeSent = body.Has("scope")
	r.scope = body.OneOf("scope", "", resources.RoleScopeAccount, resources.RoleScopeProject, resources.RoleScopeResource)
	r.permissions = readPermissions(body)
	r.description, _ = body.Text("description")
	if utf8.RuneCountInString(r.description) > maxDescription {
		body.Add("description", "must have at most %d characters", maxDescription)
	}
	r.project, r.projectReadable = readBodyID(body, "projectId")
	r.projectSent = body.Has("projectId")
	r.status = body.OneOf("status", defaultStatus, resources.StatusActive, resources.StatusInactive)
}

// checkNew adds the problems of a role that is not a replacement.
func (r *roleInput) checkNew(p *wire.Problems) {
	if !r.scopeSent {
		p.Add("scope", "is missing")
	}
	if r.scope == resources.RoleScopeAccount && (r.project != "" || !r.projectReadable) {
		p.Add("projectId", "an ACCOUNT role has no project")
	}
	r.checkScope(p, r.scope)
}

// readPermissions reads 1 to 200 different patterns.
func readPermissions(body *wire.Object) []string {
	list, wellFormed := body.Texts("permissions", maxRolePatterns)
	switch {
	case !body.Has("permissions"):
		body.Add("permissions", "is missing; 1 to %d patterns are needed", maxRolePatterns)
		return nil
	case wellFormed && len(list) == 0:
		body.Add("permissions", "must have 1 to %d patterns", maxRolePatterns)
		return nil
	}
	first := map[string]int{}
	for i, pattern := range list {
		if pattern == "" && !wellFormed {
			continue // Texts has added its problem
		}
		field := indexed("permissions", i)
		if _, err := resources.ParsePattern(pattern); err != nil {
			body.Add(field, "%v", err)
		}
		if j, twice := first[pattern]; twice {
			body.Add(field, "is the same as %s", indexed("permissions", j))
			continue
		}
		first[pattern] = i
	}
	return list
}

// checkScope adds a problem for each pattern outside the role's scope. A role assigned in a project
// has no patterns of account scope, and "*" includes that scope.
func (r *roleInput) checkScope(p *wire.Problems, scope string) {
	if scope != resources.RoleScopeProject && scope != resources.RoleScopeResource {
		return
	}
	for i, pattern := range r.permissions {
		a, err := resources.ParsePattern(pattern)
		if err == nil && a.Scope != resources.ScopeProject && a.Scope != resources.ScopeResource {
			p.Add(indexed("permissions", i), "a %s role holds project: and resource: patterns only", scope)
		}
	}
}
