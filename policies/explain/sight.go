package explain

import (
	"context"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
)

// sight is what the caller may see of an explanation.
type sight struct {
	// all lifts every limit.
	all bool
	// project says that the caller may know whether the project in question exists.
	project bool
	// roles says that the caller may list the custom roles of the account, users its users.
	roles, users bool
}

func everything() sight { return sight{all: true, project: true, roles: true, users: true} }

// Rights by which a user lists what an explanation would name.
const (
	listRoles    = "account:role:read"
	listUsers    = "account:user:read"
	listProjects = "account:project:read"
)

// projectCondition is the condition that shows whether the project exists.
const projectCondition = "needs_active_project"

// sight asks policy what the caller may list. A service may see everything, and so may a user
// who asks about somebody else. The door asked for that right.
func (e *explanation) sight(ctx context.Context) (s sight, err error) {
	caller := &e.q.Principal
	if caller.Kind != resources.PrincipalUser || e.q.Facts.Subject == nil || caller.ID != e.q.Facts.Subject.UserID {
		return everything(), nil
	}
	may := func(id string) bool {
		action, _ := resources.ParseAction(id)
		if err != nil || action.ID == "" {
			return false
		}
		asked := e.q
		asked.Action, asked.Target, asked.Facts.ProjectState = action, resources.Target{UserID: caller.ID}, ""
		var d resources.Decision
		d, err = e.policy.Decide(ctx, asked)
		return err == nil && d.Allowed
	}
	if may(e.q.Route.Action) {
		return everything(), err
	}
	s = sight{roles: may(listRoles), users: may(listUsers)}
	s.project = e.q.Target.ProjectID == "" || e.said.Told[projectCondition] || e.holdsInProject() || may(listProjects)
	if s.project {
		e.said.Told[projectCondition] = true
	}
	return s, err
}

// holdsInProject says whether the subject holds a role in the project.
func (e *explanation) holdsInProject() bool {
	return slices.ContainsFunc(e.q.Facts.Subject.Assignments, func(h resources.HeldRole) bool {
		return h.ProjectID == e.q.Target.ProjectID
	})
}

// candidateRoles returns the roles that may be assigned or changed, as far as the caller may know them. They know the roles
// that they hold.
func (e *explanation) candidateRoles(ctx context.Context) ([]resources.Role, error) {
	roles := e.policy.Roles()
	custom, err := e.directory.Roles(ctx)
	if err != nil {
		return nil, err
	}
	for _, role := range custom {
		held := slices.ContainsFunc(e.q.Facts.Subject.Assignments, func(h resources.HeldRole) bool { return h.RoleID == role.ID })
		if e.sees.roles || held {
			roles = append(roles, role)
		}
	}
	return roles, nil
}
