package explain_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/explain"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// directory is one of functions.
type directory struct {
	roles func() ([]resources.Role, error)
	count func(explain.Change) (int, error)
}

func (d directory) Roles(context.Context) ([]resources.Role, error) { return d.roles() }

func (d directory) Others(_ context.Context, change explain.Change) (int, error) {
	return d.count(change)
}

func withRoles(roles ...resources.Role) directory {
	return directory{
		func() ([]resources.Role, error) { return roles, nil },
		func(change explain.Change) (int, error) { return len(change.RoleIDs) + 10*len(change.GroupIDs), nil },
	}
}

// byService is the question of a service about the subject.
func byService(s *resources.Subject, action string) resources.Question {
	q := policytest.Question(s, action)
	q.Principal = resources.Principal{Kind: resources.PrincipalService, ID: "service-x", Credential: resources.CredentialToken}
	return q
}

func explained(t *testing.T, policy *engine.Pinned, q resources.Question, d explain.Directory) resources.Explanation {
	t.Helper()
	return must.Get(explain.Explain(t.Context(), policy, q, d))(t)
}

// TestFixesAreInOrder guarantees fewest steps first, then the fewest further actions, then the fewest other users.
func TestFixesAreInOrder(t *testing.T) {
	policy := open(t, policies.Tree())
	s := policytest.ActiveSubject()
	held := func(role, group string) resources.HeldRole {
		return resources.HeldRole{
			RoleID: role, RoleScope: resources.RoleScopeProject, RoleStatus: resources.StatusActive, Custom: true, Status: resources.StatusActive,
			ProjectID: "proj-demo-v1", GroupID: group, Permissions: []string{"project:instance:read"},
		}
	}
	ended := held("role-ended-v1", "group-a-v1")
	ended.ExpiresAt = 5
	s.Assignments = []resources.HeldRole{ended, held("role-b-v1", "")}
	custom := func(id string) resources.Role {
		return resources.Role{ID: id, IsCustom: true, Scope: resources.RoleScopeProject, Status: resources.StatusActive, Permissions: []string{"project:instance:read"}}
	}
	d := withRoles(custom("role-ended-v1"), custom("role-b-v1"))
	x := explained(t, policy, byService(s, "project:odd:open"), d)
	var got []string
	for _, fix := range x.Fixes {
		line := fmt.Sprint(*fix.Affects)
		for _, step := range fix.Steps {
			line += " " + step.Kind + " " + step.RoleID
		}
		got = append(got, line)
	}
	want := []string{
		"1 add_permission role-b-v1", "0 assign project_admin", "0 assign account_admin",
		"1 add_permission role-ended-v1 assign role-ended-v1", "11 add_permission role-ended-v1 extend role-ended-v1",
	}
	if !reflect.DeepEqual(got, want) || !x.Complete {
		t.Errorf("%q, want %q", got, want)
	}
	why := map[string]string{}
	for _, g := range x.Grants {
		why[g.RoleID] = g.WhyNot
	}
	if want := map[string]string{"role-ended-v1": "it ended at 1970-01-01T00:00:00.005Z", "role-b-v1": "its role lacks the action"}; !reflect.DeepEqual(why, want) {
		t.Errorf("%q", why)
	}
}

// TestTwoRolesForADenyRule: a second assignment satisfies a rule that wants a role of its own.
func TestTwoRolesForADenyRule(t *testing.T) {
	x := explained(t, open(t, ownTree(t)), byService(policytest.ActiveSubject(), "resource:volume:attach"), withRoles())
	if len(x.Denies) != 1 || x.Denies[0].At != "authz/own.rego:3" || len(x.Fixes) == 0 {
		t.Fatalf("%+v", x)
	}
	for _, fix := range x.Fixes {
		if len(fix.Steps) != 2 || fix.Steps[0].RoleID != "account_admin" && fix.Steps[0].RoleID != "account_reader" && fix.Steps[1].RoleID != "account_reader" {
			t.Errorf("%+v", fix)
		}
	}
}

// TestWhatBlocksIsTold: an answer without a fix names the blocking rules with their places.
func TestWhatBlocksIsTold(t *testing.T) {
	policy := open(t, ownTree(t))
	place := func(change func(*resources.Question)) []resources.PolicyRule {
		q := byService(policytest.ActiveSubject(), "project:instance:read")
		change(&q)
		x := explained(t, policy, q, withRoles())
		if x.Allowed || len(x.Fixes) > 0 {
			t.Errorf("%+v", x)
		}
		return x.BlockedBy
	}
	for name, c := range map[string]struct {
		change func(*resources.Question)
		rule   string
		says   string
	}{
		"no project": {
			func(q *resources.Question) { q.Facts.ProjectState = resources.ProjectAbsent },
			policy.ConditionAt("needs_active_project"), "the project is not an active project of the account",
		},
		"no member": {
			func(q *resources.Question) { q.Facts.Subject.Member = false },
			policy.ConditionAt("needs_active_member"), "the user is not an active member of the account",
		},
		"a deny rule": {
			func(q *resources.Question) {
				q.Action, _ = resources.ParseAction("project:volume:read")
				q.Principal = policytest.Question(q.Facts.Subject, "project:volume:read").Principal
				q.Principal.Credential, q.Principal.KeyScopes = resources.CredentialKey, []string{"read", "write"}
				q.Facts.Subject = policytest.AdminSubject()
				q.Route.Action = "account:role:read" // the right to see all of it
			},
			"authz/own.rego:8", "instances/i-1 is not read with a key",
		},
	} {
		got := place(c.change)
		if want := []resources.PolicyRule{{Reason: c.says, At: c.rule}}; !reflect.DeepEqual(got, want) || c.rule == "" {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// TestAnUnlistedActionBlocks guarantees that the list of a strict tree is named for an action outside of it, and no other
// rule: an active user would be denied as well.
func TestAnUnlistedActionBlocks(t *testing.T) {
	policy := open(t, policytest.Copy(t, policies.Tree()).With("actions/data.json", `{"strict": true}`))
	for _, status := range []string{resources.StatusActive, resources.StatusSuspended} {
		q := byService(policytest.ActiveSubject(), "account:volcano:read")
		q.Facts.Subject.UserStatus = status
		got := explained(t, policy, q, withRoles()).BlockedBy
		if want := []resources.PolicyRule{{Reason: "unknown action", At: "actions/data.json"}}; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", status, got, want)
		}
	}
}

// TestWorkIsBounded: the answer about a subject with thousands of assignments and roles says that it is not complete.
func TestWorkIsBounded(t *testing.T) {
	s := policytest.ActiveSubject()
	var roles []resources.Role
	for i := range 150 {
		role := resources.Role{
			ID: fmt.Sprintf("role-%d-v1", i), IsCustom: true, Scope: resources.RoleScopeProject, Status: "INACTIVE", Permissions: []string{"project:odd:read"},
		}
		roles = append(roles, role)
		s.Assignments = append(s.Assignments, resources.HeldRole{
			RoleID: role.ID, RoleScope: role.Scope, RoleStatus: role.Status, Custom: true, Permissions: role.Permissions, ProjectID: "proj-demo-v1",
			Status: "INACTIVE", ExpiresAt: 5,
		})
	}
	x := explained(t, open(t, policies.Tree()), byService(s, "project:odd:open"), withRoles(roles...))
	if x.Allowed || x.Complete || len(x.Grants) != 100 || len(x.Fixes) == 0 || len(x.Fixes) > 10 {
		t.Errorf("complete %v, %d grants, %+v", x.Complete, len(x.Grants), x.Fixes)
	}
}

// TestAFailureExplainsNothing guarantees the zero explanation, which denies.
func TestAFailureExplainsNothing(t *testing.T) {
	policy, broken := open(t, policies.Tree()), errors.New("broken")
	q := byService(policytest.ActiveSubject(), "project:odd:open")
	ended, end := context.WithCancel(t.Context())
	end()
	for name, c := range map[string]struct {
		ctx context.Context
		d   directory
	}{
		"roles":         {t.Context(), directory{func() ([]resources.Role, error) { return nil, broken }, withRoles().count}},
		"others":        {t.Context(), directory{withRoles().roles, func(explain.Change) (int, error) { return 0, broken }}},
		"the caller is": {ended, withRoles()},
	} {
		if x, err := explain.Explain(c.ctx, policy, q, c.d); err == nil || x.Allowed || x.Reason != "" {
			t.Errorf("%s: %v %+v", name, err, x)
		}
	}
}

// TestAMovedAccountIsNotCounted: if the account has changed, fixes count no other users, and the answer is not complete.
func TestAMovedAccountIsNotCounted(t *testing.T) {
	d := withRoles()
	asked := 0
	d.count = func(explain.Change) (int, error) {
		if asked++; asked > 1 {
			return 0, fmt.Errorf("in the store: %w", explain.ErrMoved)
		}
		return 0, nil
	}
	x := explained(t, open(t, policies.Tree()), byService(policytest.ActiveSubject(), "project:odd:open"), d)
	if x.Allowed || x.Complete || len(x.Fixes) < 2 || asked != len(x.Fixes) {
		t.Fatalf("%d asked: %+v", asked, x)
	}
	for _, fix := range x.Fixes {
		if fix.Affects != nil {
			t.Errorf("%+v", fix)
		}
	}
}

// TestNoFixEndsAnInvitation guarantees that no fix activates an invited user. The first sign-in does so, and nobody
// could accept the invitation of a user with another status.
func TestNoFixEndsAnInvitation(t *testing.T) {
	policy, reader := open(t, policies.Tree()), resources.Role{ID: "role-r-v1", Scope: resources.RoleScopeAccount, Status: resources.StatusActive, IsCustom: true, Permissions: []string{"account:x:read"}}
	for status, fixes := range map[string]int{resources.StatusInvited: 0, resources.StatusSuspended: 1} {
		s := policytest.ActiveSubject()
		s.UserStatus = status
		s.Assignments = append(s.Assignments, reader.Held("", ""))
		out := explained(t, policy, byService(s, "account:x:read"), withRoles())
		if len(out.Fixes) != fixes || (len(out.BlockedBy) == 0) != (fixes > 0) || !out.Complete {
			t.Errorf("%s: %+v, blocked by %+v, complete %t", status, out.Fixes, out.BlockedBy, out.Complete)
		}
	}
}
