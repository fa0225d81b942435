package replay_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// asker asks an engine random questions of each kind that is recorded.
type asker struct {
	*rand.Rand
	engine   *engine.Engine
	routes   []resources.Route
	roles    []resources.Role
	actions  []string
	subjects []*resources.Subject
	asked    int
}

func pick[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }

// theTree is the embedded tree with an app.
func theTree(t testing.TB) policytest.Tree {
	t.Helper()
	return policytest.Copy(t, policies.Tree()).With("apps/docs/docs.rego", `package apps.docs

types := {"doc"}

decision := {"decision": input.action.name in {"read", "list"}, "context": {"owner": input.resource.owner, "roles": count(input.facts.assignments)}}
`)
}

const theTime resources.Time = 1_767_225_600_000

// newAsker makes an engine and the users of some accounts. No test of the tree is run.
func newAsker(t testing.TB, tree policytest.Tree) *asker {
	t.Helper()
	load := func(ctx context.Context, src *policies.Source) (*engine.Set, error) {
		set, _, err := proof.Compile(ctx, src)
		return set, err
	}
	e := must.Get(engine.New(t.Context(), tree, load, engine.Options{Deadline: time.Minute}))(t)
	a := &asker{Rand: rand.New(rand.NewPCG(1, 2)), engine: e, routes: e.Routes(), roles: e.Roles(), actions: []string{"project:odd_thing:list", "account:odd_thing:read"}}
	a.routes = slices.DeleteFunc(a.routes, func(r resources.Route) bool { return slices.Contains(r.Access, "public") })
	for _, listed := range e.Actions() {
		a.actions = append(a.actions, listed.ID)
	}
	for n := range 400 {
		a.subjects = append(a.subjects, a.subject(n))
	}
	return a
}

// subject is a user with roles, mostly in order.
func (a *asker) subject(n int) *resources.Subject {
	status := func() string { return pick(a.Rand, "ACTIVE", "ACTIVE", "ACTIVE", "ACTIVE", "ACTIVE", "INACTIVE") }
	s := &resources.Subject{
		AccountID: fmt.Sprintf("acct-%d-v1", n%10), AccountExists: true, AccountStatus: status(), UserID: fmt.Sprintf("user-%d-v1", n),
		UserUUID: fmt.Sprintf("u%d", n), UserExists: true, UserStatus: status(), Member: a.IntN(10) > 0,
	}
	for range a.IntN(6) {
		role := a.roles[a.IntN(len(a.roles))]
		held := resources.HeldRole{
			RoleID: role.ID, RoleScope: role.Scope, RoleStatus: status(), Status: status(),
			ExpiresAt: theTime + pick[resources.Time](a.Rand, -theTime, -theTime, 500_000, -1, 900_000),
		}
		if a.IntN(3) == 0 {
			granted, _ := resources.ParseAction(pick(a.Rand, a.actions...))
			patterns := granted.Patterns()
			held.RoleID, held.Custom, held.Permissions = fmt.Sprintf("role-%d-v1", n), true, patterns[a.IntN(4):5]
		}
		if held.RoleScope != resources.RoleScopeAccount {
			held.ProjectID = fmt.Sprintf("proj-%d-v1", a.IntN(3))
		}
		if held.RoleScope == resources.RoleScopeResource {
			held.ResourceID = fmt.Sprintf("instances/i-%d", a.IntN(2))
		}
		s.Assignments = append(s.Assignments, held)
	}
	return s
}

// caller is the user, by token or key, or a service.
func (a *asker) caller(s *resources.Subject) resources.Principal {
	p := resources.Principal{Kind: resources.PrincipalUser, ID: s.UserID, UUID: s.UserUUID, AccountID: s.AccountID, Credential: resources.CredentialToken}
	switch a.IntN(5) {
	case 0, 1:
		p.Credential, p.KeyID, p.KeyScopes = resources.CredentialKey, "k1", pick(a.Rand, []string{"read"}, []string{"write"}, []string{"read", "write"})
	case 2:
		scopes := pick(a.Rand, []string{"authz:check"}, []string{"users:sync", "platform:admin"}, nil)
		p = resources.Principal{Kind: resources.PrincipalService, ID: "service-x", Credential: resources.CredentialToken, Scopes: scopes}
	}
	return p
}

// next asks a question, and returns the judgement for the log.
func (a *asker) next(t testing.TB) *resources.Judgement {
	t.Helper()
	s := a.subjects[a.IntN(len(a.subjects))]
	j := &resources.Judgement{ID: fmt.Sprintf("d%08d", a.asked), Path: resources.PathDecision}
	a.asked++
	q := &j.Question
	q.Principal, q.AccountID, q.Now = a.caller(s), s.AccountID, theTime+resources.Time(a.asked)
	q.Facts = resources.Facts{Revision: 1, Subject: s}
	q.Target = resources.Target{AccountID: s.AccountID}
	if a.IntN(3) > 0 {
		q.Target.ProjectID, q.Facts.ProjectState = fmt.Sprintf("proj-%d-v1", a.IntN(3)), pick(a.Rand, "active", "active", "active", "deleting", "absent")
		q.Target.Resource = pick(a.Rand, "", "instances/i-0", "instances/i-1", "instances/i-2")
		q.Target.Rest = q.Target.Resource
	}
	var err error
	switch a.IntN(20) {
	default:
		q.Route = &resources.Route{Name: "authorization.check", Access: []string{"asks_self"}, Effect: resources.EffectRead}
		q.Action, _ = resources.ParseAction(pick(a.Rand, a.actions...))
		j.Decision, err = a.engine.Decide(t.Context(), *q)
	case 0, 1, 2, 3, 4, 5, 6, 7:
		j.Path, q.Route = resources.PathAccess, &a.routes[a.IntN(len(a.routes))]
		q.Action, _ = resources.ParseAction(q.Route.Action)
		if strings.Contains(q.Route.Path, "{user") {
			q.Target.UserID = pick(a.Rand, s.UserID, s.UserUUID, "user-9-v1")
		}
		j.Decision, err = a.engine.Access(t.Context(), *q)
	case 8, 9:
		role := a.roles[a.IntN(len(a.roles))]
		j.Path, q.Target.AccountID = resources.PathGrantable, ""
		q.Grant = &resources.Grant{Permissions: role.Permissions[:min(len(role.Permissions), 4)], Until: pick(a.Rand, 0, theTime+600_000)}
		q.Target = resources.TargetAt(q.Target.ProjectID, q.Target.Resource)
		j.Decision, err = a.engine.Inside().Grantable(t.Context(), *q)
	case 10:
		j.Path, q.Target = "apps/docs/decision", resources.Target{}
		q.App = &resources.Entities{
			ResourceType: "doc", Subject: []byte(`{"type":"user"}`), Action: pick(a.Rand, []byte(`{"name":"read"}`), []byte(`{"name":"write"}`)),
			Resource: fmt.Appendf(nil, `{"type":"doc","owner":%d.50}`, a.IntN(3)),
		}
		var d resources.AppDecision
		d, err = a.engine.Pin().DecideApp(t.Context(), *q)
		j.Decision, j.Context = d.Decision, d.Context
	}
	must.Do(t, err)
	return j
}
