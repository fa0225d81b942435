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
	// roles says that the caller may list the custom roles of the account, users that they may list its users.
	roles, users bool
}

func everything() sight { return sight{all: true, project: true, roles: true, users: true} }

// Rights by which a user lists what an explanation would name.
const (
	listRoles    = "account:role:read"
	listUsers    = "account:user:read"
	listProjects = "account:project:read"
)

// projectCondition is the condition that tells whether the project exists.
const projectCondition = "needs_active_project"

// whatTheySee asks policy what the caller could list. A service, and a user who asks about somebody else, were let in
// by the right to see all of it.
func (e *explanation) whatTheySee(ctx context.Context) (s sight, err error) {
	caller := &e.q.Principal
	if caller.Kind != resources.PrincipalUser || e.q.Facts.Subject == nil || caller.ID != e.q.Facts.Subject.UserID {
		return everything(), nil
	}
	may := func(action resources.Action) bool {
		if err != nil || action.ID == "" {
			return false
		}
		asked := e.q
		asked.Action, asked.Target, asked.Facts.ProjectState = action, resources.Target{UserID: caller.ID}, ""
		var d resources.Decision
		d, err = e.policy.Decide(ctx, asked)
		return err == nil && d.Allowed
	}
	named := func(id string) resources.Action {
		action, failed := resources.ParseAction(id)
		if failed != nil {
			return resources.Action{}
		}
		return action
	}
	if right := named(e.q.Route.Action); may(right) {
		return everything(), err
	}
	s = sight{roles: may(named(listRoles)), users: may(named(listUsers))}
	s.project = e.q.Target.ProjectID == "" || e.said.Told[projectCondition] || e.holdsSomethingThere() || may(named(listProjects))
	if s.project {
		e.said.Told[projectCondition] = true
	}
	return s, err
}

// holdsSomethingThere says whether the subject's own assignments name the project.
func (e *explanation) holdsSomethingThere() bool {
	return slices.ContainsFunc(e.q.Facts.Subject.Assignments, func(h resources.HeldRole) bool {
		return h.ProjectID == e.q.Target.ProjectID
	})
}

// candidateRoles returns the roles that may be assigned or changed, as far as the caller may know them. Those of the
// subject's own assignments are known to them.
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
