package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// FuzzDecide asks the embedded tree arbitrary questions: none panics, and nobody
// without an assignment or without an active account and membership is allowed.
func FuzzDecide(f *testing.F) {
	e := must.Get(engine.New(context.Background(), policies.Tree(), proof.Load, engine.Options{Deadline: 10 * time.Second}))(f)
	f.Add("user", "user-bob-v1", "acct-demo-v1", "ACTIVE", "project:instance:read", "project", "proj-demo-v1", "active", "account_admin", "ACCOUNT", "project:*:*", int64(1), true, true)
	f.Add("service", "", "", "", "", "", "", "", "", "", "", int64(-1), false, false)
	f.Add("user", "u", "a", "ACTIVE", "*:*:*", "*", "p", "active", "role-a-v1", "PROJECT", "*:*:*", int64(0), true, false)
	f.Fuzz(func(t *testing.T, kind, id, account, status, action, scope, project, state, role, roleScope, permission string, now int64, active, custom bool) {
		subject := func(held ...resources.HeldRole) *resources.Subject {
			return &resources.Subject{
				AccountID: account, AccountExists: active, AccountStatus: status,
				UserID: id, UserUUID: id, UserExists: active, UserStatus: status, Member: active, Assignments: held,
			}
		}
		q := resources.Question{
			Principal: resources.Principal{Kind: kind, ID: id, UUID: id, AccountID: account, Credential: role, Scopes: []string{permission, permission}, KeyScopes: []string{action}},
			Action:    resources.Action{ID: action, Scope: scope, Resource: state, Verb: role},
			AccountID: account, Now: resources.Time(now),
			Facts:  resources.Facts{Subject: subject(), ProjectState: state},
			Target: resources.Target{AccountID: account, ProjectID: project, Resource: role, Rest: permission, UserID: id},
		}
		d, err := e.Decide(context.Background(), q)
		if err != nil || d.Allowed {
			t.Fatalf("without an assignment: %+v, %v", d, err)
		}
		held := resources.HeldRole{
			RoleID: role, RoleScope: roleScope, RoleStatus: status, Custom: custom, Status: status,
			Permissions: []string{permission, permission}, ProjectID: project, ResourceID: role, ExpiresAt: resources.Time(now),
		}
		q.Facts.Subject = subject(held, held)
		d, err = e.Decide(context.Background(), q)
		if err != nil || d.Allowed && (!active || status != resources.StatusActive) {
			t.Fatalf("not active: %+v, %v", d, err)
		}
		g := resources.Question{
			Principal: q.Principal, AccountID: account, Facts: q.Facts, Target: resources.TargetAt(project, role), Now: resources.Time(now),
			Grant: &resources.Grant{Permissions: []string{permission, action}, Until: resources.Time(now)},
		}
		if d, err = e.Inside().Grantable(context.Background(), g); err != nil || d.Allowed && (!active || status != resources.StatusActive) {
			t.Fatalf("grantable: %+v, %v", d, err)
		}
	})
}
