package explain

import (
	"cmp"
	"context"
	"slices"

	"github.com/portcullis-authz/portcullis/policies/question"
	"github.com/portcullis-authz/portcullis/resources"
)

// stateSteps returns the steps that mend the account, the user and the key. None activates an invited user: the step
// would end the invitation. The first sign-in activates the user.
func (e *explanation) stateSteps() (out []atom) {
	s, caller := e.q.Facts.Subject, &e.q.Principal
	if s.AccountStatus != resources.StatusActive {
		out = append(out, atom{Step: resources.Step{Kind: resources.StepActivateAccount}})
	}
	if s.UserStatus != resources.StatusActive && s.UserStatus != resources.StatusInvited {
		out = append(out, atom{Step: resources.Step{Kind: resources.StepActivateUser}})
	}
	ownKey := caller.Kind == resources.PrincipalUser && caller.Credential == resources.CredentialKey && caller.ID == s.UserID
	if scope := keyScope(e.q.Action.Verb); ownKey && !slices.Contains(caller.KeyScopes, scope) {
		out = append(out, atom{Step: resources.Step{Kind: resources.StepUseKey, Scopes: []string{scope}}})
	}
	return out
}

// keyScope returns the scope that an API key needs for a verb.
func keyScope(verb string) string {
	if verb == "read" || verb == "list" {
		return resources.KeyScopeRead
	}
	return resources.KeyScopeWrite
}

// routes returns the ways to a granting role: the steps that mend an assignment, or a new assignment and the steps for its
// role. Roles with fewer permissions come first.
func (e *explanation) routes(ctx context.Context) ([][]atom, error) {
	roles, err := e.candidateRoles(ctx)
	if err != nil {
		return nil, err
	}
	e.roles = slices.Clone(roles)
	roles = slices.DeleteFunc(roles, func(r resources.Role) bool { return !r.IsCustom && !holds(r.Permissions, e.q.Action) })
	var out [][]atom
	for i := range e.assignments() {
		route := e.mend(i)
		if len(route) == 0 {
			continue
		}
		if len(out) == maxMended {
			e.out.Complete = false
			break
		}
		out = append(out, route)
	}
	slices.SortStableFunc(roles, func(a, b resources.Role) int {
		return cmp.Or(cmp.Compare(e.breadth(&a), e.breadth(&b)), cmp.Compare(a.ID, b.ID))
	})
	var changing [][]atom
	for i := range roles {
		role := &roles[i]
		assign, ok := e.assign(role)
		granting := holds(role.Permissions, e.q.Action)
		switch {
		case !ok:
		case granting && role.Status == resources.StatusActive:
			out = append(out, []atom{assign})
		default: // these change a role that others hold
			changing = append(changing, append([]atom{assign}, e.mendRole(role, granting)...))
		}
	}
	out = append(out, changing...)
	if len(out) > maxRoutes {
		out, e.out.Complete = out[:maxRoutes], false
	}
	return out, nil
}

// mend returns the steps after which the subject's assignment with this index counts at the target; nil if no step helps,
// or none is needed.
func (e *explanation) mend(i int) (out []atom) {
	one := &e.assignments()[i]
	base := resources.Step{RoleID: one.RoleID, ProjectID: one.ProjectID, ResourceID: one.ResourceID, GroupID: one.GroupID}
	if !e.covers(one) || !e.reaches(one.ProjectID) || one.RoleScope != question.LevelOf(one.ProjectID, one.ResourceID) {
		return nil
	}
	if !one.Custom && !e.granting[one.RoleID] {
		return nil
	}
	add := func(kind string, until resources.Time) {
		step := base
		step.Kind, step.Until = kind, until
		out = append(out, atom{Step: step, changes: i})
	}
	if one.ExpiresAt != 0 && e.q.Now >= one.ExpiresAt {
		add(resources.StepExtend, e.q.Now+longer)
	}
	if one.Status != resources.StatusActive {
		add(resources.StepActivateAssignment, 0)
	}
	if one.Custom {
		out = append(out, e.mendRole(&resources.Role{ID: one.RoleID, Status: one.RoleStatus}, e.grants(one))...)
	}
	return out
}

// mendRole returns the steps after which a custom role grants the action.
func (e *explanation) mendRole(role *resources.Role, granting bool) (out []atom) {
	if role.Status != resources.StatusActive {
		out = append(out, atom{Step: resources.Step{Kind: resources.StepActivateRole, RoleID: role.ID}})
	}
	if !granting {
		out = append(out, atom{Step: resources.Step{Kind: resources.StepAddPermission, RoleID: role.ID, Permission: e.q.Action.ID}})
	}
	return out
}

// assign returns the step that assigns a role around the target. It is false if the role's scope has no place there, or
// the user holds the role already.
func (e *explanation) assign(role *resources.Role) (atom, bool) {
	step := resources.Step{Kind: resources.StepAssign, RoleID: role.ID}
	switch role.Scope {
	case resources.RoleScopeProject:
		step.ProjectID = e.q.Target.ProjectID
	case resources.RoleScopeResource:
		step.ProjectID, step.ResourceID = e.q.Target.ProjectID, e.q.Target.Resource
	}
	if role.Scope != question.LevelOf(step.ProjectID, step.ResourceID) || !e.reaches(step.ProjectID) ||
		role.ProjectID != "" && role.ProjectID != e.q.Target.ProjectID {
		return atom{}, false
	}
	has := slices.ContainsFunc(e.assignments(), func(h resources.HeldRole) bool {
		return h.RoleID == role.ID && h.GroupID == "" && h.ProjectID == step.ProjectID && h.ResourceID == step.ResourceID
	})
	return atom{Step: step, role: role}, !has
}

// reaches says whether an assignment there can grant the action. Roles in a project grant no account action.
func (e *explanation) reaches(project string) bool {
	return project == "" || e.q.Action.Scope != resources.ScopeAccount
}

// breadth returns how many of the listed actions a role grants.
func (e *explanation) breadth(role *resources.Role) (n int) {
	if count, ok := e.breadths[role.ID]; ok {
		return count
	}
	has := map[string]bool{}
	for _, p := range role.Permissions {
		has[p] = true
	}
	for _, action := range e.actions {
		patterns := action.Patterns()
		if slices.ContainsFunc(patterns[:], func(p string) bool { return has[p] }) {
			n++
		}
	}
	e.breadths[role.ID] = n
	return n
}
