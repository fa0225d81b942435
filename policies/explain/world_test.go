package explain_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/portcullis-authz/portcullis/policies/explain"
	"github.com/portcullis-authz/portcullis/resources"
)

const now resources.Time = 1_767_225_600_000

// world is a made-up account, as a store would hold it.
type world struct {
	rng         *rand.Rand
	account     resources.Account
	users       []resources.User
	projects    []resources.Project
	roles       []resources.Role
	groups      map[string][]string // group to members
	assignments []resources.Assignment
}

func pick[T any](rng *rand.Rand, all ...T) T { return all[rng.IntN(len(all))] }

func actions() []string {
	return []string{
		"project:instance:read", "project:instance:create", "resource:volume:attach", "account:role:read", "account:user:update",
		"account:project:read", "project:volume:read", "account:authorization:explain", "project:odd_thing:list",
	}
}

// newWorld is a random one: mostly in order, so that what is wrong is found beside what is right.
func newWorld(rng *rand.Rand) *world {
	w := &world{rng: rng, account: resources.Account{ID: "acct-w-v1", Status: resources.StatusActive}, groups: map[string][]string{}}
	if rng.IntN(12) == 0 {
		w.account.Status = resources.StatusSuspended
	}
	for i := range 1 + rng.IntN(4) {
		w.users = append(w.users, resources.User{
			ExternalID: fmt.Sprintf("user-u%d-v1", i), UUID: fmt.Sprintf("uuid-u%d", i),
			Status: pick(rng, resources.StatusActive, resources.StatusActive, resources.StatusActive, resources.StatusActive, resources.StatusActive, "INACTIVE", "INVITED"),
		})
		w.users[i].AccountID = w.account.ID
		if rng.IntN(8) == 0 {
			w.users[i].AccountID = pick(rng, "acct-other-v1", "")
		}
	}
	for i := range 1 + rng.IntN(3) {
		w.projects = append(w.projects, resources.Project{
			ID: fmt.Sprintf("proj-p%d-v1", i), State: pick(rng, resources.ProjectActive, resources.ProjectActive, resources.ProjectActive, resources.ProjectDeleting),
		})
	}
	for i := range rng.IntN(5) {
		w.roles = append(w.roles, w.newRole(fmt.Sprintf("role-r%d-v1", i)))
	}
	for i := range rng.IntN(3) {
		group := fmt.Sprintf("group-g%d-v1", i)
		for _, u := range w.users {
			if rng.IntN(2) == 0 && u.AccountID == w.account.ID {
				w.groups[group] = append(w.groups[group], u.ExternalID)
			}
		}
	}
	for range rng.IntN(12) {
		w.assignSomething()
	}
	return w
}

func (w *world) newRole(id string) resources.Role {
	r := resources.Role{ID: id, IsCustom: true, Status: pick(w.rng, resources.StatusActive, resources.StatusActive, "INACTIVE")}
	r.Scope = pick(w.rng, resources.RoleScopeAccount, resources.RoleScopeProject, resources.RoleScopeResource)
	for range 1 + w.rng.IntN(3) {
		a, _ := resources.ParseAction(pick(w.rng, actions()...))
		pattern := a.Patterns()[w.rng.IntN(4)]
		if a.Scope != resources.ScopeAccount || r.Scope == resources.RoleScopeAccount {
			r.Permissions = append(r.Permissions, pattern)
		}
	}
	return r
}

func (w *world) assignSomething() {
	role := resources.Role{ID: pick(w.rng, "account_admin", "account_reader", "team_member"), Scope: resources.RoleScopeAccount}
	switch {
	case w.rng.IntN(3) == 0:
		role = resources.Role{ID: pick(w.rng, "project_admin", "project_reader"), Scope: resources.RoleScopeProject}
	case len(w.roles) > 0 && w.rng.IntN(2) == 0:
		role = pick(w.rng, w.roles...)
	}
	a := resources.Assignment{
		RoleID: role.ID, RoleScope: role.Scope, AssigneeType: resources.AssigneeUser, AssigneeID: pick(w.rng, w.users...).ExternalID,
		Status:    pick(w.rng, resources.StatusActive, resources.StatusActive, resources.StatusActive, "INACTIVE"),
		ExpiresAt: pick(w.rng, 0, 0, now+5000, now-1000, now),
	}
	if role.Scope != resources.RoleScopeAccount {
		a.ProjectID = pick(w.rng, w.projects...).ID
	}
	if role.Scope == resources.RoleScopeResource {
		a.ResourceID = pick(w.rng, "instances/i-1", "instances/i-2")
	}
	if len(w.groups) > 0 && w.rng.IntN(3) == 0 {
		a.AssigneeType, a.AssigneeID = resources.AssigneeGroup, "group-g0-v1"
	}
	same := func(b resources.Assignment) bool {
		return a.RoleID == b.RoleID && a.AssigneeID == b.AssigneeID && a.ProjectID == b.ProjectID && a.ResourceID == b.ResourceID
	}
	if !slices.ContainsFunc(w.assignments, same) {
		w.assignments = append(w.assignments, a)
	}
}

func (w *world) role(id string) *resources.Role {
	for i := range w.roles {
		if w.roles[i].ID == id {
			return &w.roles[i]
		}
	}
	return nil
}

// facts are those of a user in the account, as store/records reads them.
func (w *world) facts(user, project string) resources.Facts {
	s := &resources.Subject{AccountID: w.account.ID, AccountExists: true, AccountStatus: w.account.Status, UserID: user}
	f := resources.Facts{Revision: 7, Subject: s}
	if project != "" {
		f.ProjectState = resources.ProjectAbsent
		for _, p := range w.projects {
			if p.ID == project {
				f.ProjectState = p.State
			}
		}
	}
	for _, u := range w.users {
		if u.ExternalID == user {
			s.UserExists, s.UserUUID, s.UserStatus, s.Member, s.HomeID = true, u.UUID, u.Status, u.AccountID == w.account.ID, u.AccountID
		}
	}
	if !s.Member {
		return f
	}
	for _, a := range w.assignments {
		held := resources.HeldRole{
			RoleID: a.RoleID, RoleScope: a.RoleScope, RoleStatus: resources.StatusActive, ProjectID: a.ProjectID, ResourceID: a.ResourceID,
			Status: a.Status, ExpiresAt: a.ExpiresAt,
		}
		if r := w.role(a.RoleID); r != nil {
			held.Custom, held.RoleScope, held.RoleStatus, held.Permissions = true, r.Scope, r.Status, r.Permissions
		}
		if a.AssigneeType == resources.AssigneeGroup {
			held.GroupID = a.AssigneeID
		}
		if a.AssigneeID == user || slices.Contains(w.groups[held.GroupID], user) {
			s.Assignments = append(s.Assignments, held)
		}
	}
	return f
}

// Roles implements explain.Directory.
func (w *world) Roles(context.Context) ([]resources.Role, error) { return slices.Clone(w.roles), nil }

// Others implements explain.Directory.
func (w *world) Others(context.Context, explain.Change) (int, error) { return w.rng.IntN(3), nil }

// question is a random one about a user of the world, by the caller that it draws.
func (w *world) question() resources.Question {
	a, _ := resources.ParseAction(pick(w.rng, actions()...))
	user := pick(w.rng, w.users...)
	q := resources.Question{Action: a, AccountID: w.account.ID, Now: now, Route: &resources.Route{Name: "authorization.explain", Action: "account:authorization:explain", Effect: resources.EffectRead}}
	if w.rng.IntN(4) > 0 {
		q.Target.AccountID = w.account.ID
	}
	if w.rng.IntN(16) == 0 {
		q.Target.AccountID = "acct-other-v1"
	}
	if a.Scope != resources.ScopeAccount && w.rng.IntN(5) > 0 || w.rng.IntN(12) == 0 {
		q.Target.ProjectID = pick(w.rng, append(slices.Concat(w.projects, w.projects, w.projects), resources.Project{ID: "proj-absent-v1"})...).ID
		q.Target.Resource = pick(w.rng, "", "instances/i-1", "instances/i-2")
		q.Target.Rest = q.Target.Resource
	}
	q.Principal = resources.Principal{Kind: resources.PrincipalService, ID: "service-w", Credential: resources.CredentialToken, Scopes: []string{"authz:explain"}}
	if w.rng.IntN(2) == 0 {
		q.Principal = resources.Principal{Kind: resources.PrincipalUser, ID: user.ExternalID, UUID: user.UUID, AccountID: user.AccountID, Credential: resources.CredentialToken}
		if w.rng.IntN(2) == 0 {
			q.Principal.Credential, q.Principal.KeyScopes = resources.CredentialKey, pick(w.rng, []string{"read"}, []string{"write"}, []string{"read", "write"})
		}
	}
	q.Facts = w.facts(user.ExternalID, q.Target.ProjectID)
	return q
}

// after is the world and the question after the steps, done as somebody would do them to the stored records.
func (w *world) after(q resources.Question, steps []resources.Step) resources.Question {
	next := *w
	next.users, next.assignments, next.roles = slices.Clone(w.users), slices.Clone(w.assignments), slices.Clone(w.roles)
	user := q.Facts.Subject.UserID
	for _, step := range steps {
		matches := func(a resources.Assignment) bool {
			holder := a.AssigneeID == user
			if step.GroupID != "" {
				holder = a.AssigneeID == step.GroupID
			}
			return holder && a.RoleID == step.RoleID && a.ProjectID == step.ProjectID && a.ResourceID == step.ResourceID
		}
		switch step.Kind {
		case resources.StepActivateAccount:
			next.account.Status = resources.StatusActive
		case resources.StepActivateUser:
			for i := range next.users {
				if next.users[i].ExternalID == user {
					next.users[i].Status = resources.StatusActive
				}
			}
		case resources.StepActivateRole:
			next.role(step.RoleID).Status = resources.StatusActive
		case resources.StepAddPermission:
			r := next.role(step.RoleID)
			r.Permissions = append(slices.Clone(r.Permissions), step.Permission)
		case resources.StepAssign:
			next.assignments = append(next.assignments, resources.Assignment{
				RoleID: step.RoleID, RoleScope: systemScope(step), AssigneeType: resources.AssigneeUser, AssigneeID: user,
				ProjectID: step.ProjectID, ResourceID: step.ResourceID, Status: resources.StatusActive,
			})
		case resources.StepExtend:
			next.assignments[slices.IndexFunc(next.assignments, matches)].ExpiresAt = step.Until
		case resources.StepActivateAssignment:
			next.assignments[slices.IndexFunc(next.assignments, matches)].Status = resources.StatusActive
		case resources.StepUseKey:
			q.Principal.KeyScopes = step.Scopes
		}
	}
	q.Facts = next.facts(user, q.Target.ProjectID)
	return q
}

// systemScope is where the step's assignment stands.
func systemScope(step resources.Step) string {
	switch {
	case step.ResourceID != "":
		return resources.RoleScopeResource
	case step.ProjectID != "":
		return resources.RoleScopeProject
	}
	return resources.RoleScopeAccount
}
