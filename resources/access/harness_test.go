package access_test

import (
	"context"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/access"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// Two accounts, without access to each other.
const (
	acctA, acctB   = "acct-a-v1", "acct-b-v1"
	projA1, projA2 = "proj-a1-v1", "proj-a2-v1"
	projLeaving    = "proj-aleaving-v1" // of A, in state deleting
	projB1         = "proj-b1-v1"
	alice, bob     = "user-alice-v1", "user-bob-v1" // account_admin of A; project_reader of projA1
	carol, dan     = "user-carol-v1", "user-dan-v1" // team_member of A; member of A without a role
	ivan           = "user-ivan-v1"                 // INVITED to A
	bea            = "user-bea-v1"                  // account_admin of B
	groupA, groupB = "group-a-v1", "group-b-v1"     // carol is in groupA
	roleB          = "role-b-v1"                    // a custom ACCOUNT role of B
	hour           = resources.Time(3_600_000)
	absent         = "absent-v1"
)

// accessWorld is the area, with a clock and a store of its own.
type accessWorld struct{ *areatest.World }

// newWorld opens a store with the two accounts in it; configure may change the service's configuration.
func newWorld(t *testing.T, configure ...func(*access.Config)) *accessWorld {
	t.Helper()
	return newWorldOn(t, areatest.New(t, resources.AreaAccess), configure...)
}

// newWorldOn is newWorld on a store that is open.
func newWorldOn(t *testing.T, world *areatest.World, configure ...func(*access.Config)) *accessWorld {
	t.Helper()
	w := &accessWorld{world}
	cfg := access.Config{
		Store: w.Store, Collections: w.Collections, Judge: areatest.Policy(t).Inside(), SystemRoles: areatest.Policy(t).Roles, Actions: areatest.Policy(t).ActionUses, Tokens: areatest.PageTokens(t), IDs: w.IDs(), Now: w.Clock.Now,
	}
	for _, f := range configure {
		f(&cfg)
	}
	cfg.Idempotency = idempotency.New(cfg.Store, w.Collections, w.Clock.Now)
	w.Routes = access.New(cfg).Routes()
	w.seed()
	return w
}

// sub is the same world for a sub-test.
func (w *accessWorld) sub(t *testing.T) *accessWorld { return &accessWorld{w.In(t)} }

func (w *accessWorld) seed() {
	w.Write(func(ctx context.Context, tx store.Tx) error {
		for _, p := range []resources.Project{
			{ID: projA1, AccountID: acctA, Name: "one", State: resources.ProjectActive},
			{ID: projA2, AccountID: acctA, Name: "two", State: resources.ProjectActive},
			{ID: projLeaving, AccountID: acctA, Name: "leaving", State: resources.ProjectDeleting},
			{ID: projB1, AccountID: acctB, Name: "one", State: resources.ProjectActive},
		} {
			p.CreatedAt, p.UpdatedAt = areatest.Start, areatest.Start
			if err := w.Collections.Projects.Insert(ctx, tx, p); err != nil {
				return err
			}
		}
		return nil
	})
	w.AddAccounts(acctA, acctB)
	for _, id := range []string{alice, bob, carol, dan} {
		w.AddUser(acctA, id, resources.StatusActive)
	}
	w.AddUser(acctA, ivan, resources.StatusInvited)
	w.AddUser(acctB, bea, resources.StatusActive)
	w.group(acctA, groupA, carol)
	w.group(acctB, groupB, bea)
	w.role(resources.Role{ID: roleB, Name: "theirs", Scope: resources.RoleScopeAccount, AccountID: acctB, Permissions: []string{"account:user:read"}})
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeID: alice, RoleID: resources.RoleAccountAdmin})
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeID: bob, RoleID: "project_reader", ProjectID: projA1})
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeID: carol, RoleID: "team_member"})
	w.Assign(resources.Assignment{AccountID: acctB, AssigneeID: bea, RoleID: resources.RoleAccountAdmin})
}

// group adds a group with members.
func (w *accessWorld) group(account, id string, members ...string) {
	w.T.Helper()
	w.Write(func(ctx context.Context, tx store.Tx) error {
		for _, user := range members {
			if err := w.Collections.Members.Insert(ctx, tx, resources.GroupMember{
				ID: records.MemberID(id, user), AccountID: account, GroupID: id, UserID: user, AddedAt: areatest.Start,
			}); err != nil {
				return err
			}
		}
		return w.Collections.Groups.Insert(ctx, tx, resources.Group{ID: id, AccountID: account, Name: id, CreatedAt: areatest.Start, UpdatedAt: areatest.Start})
	})
}

// role adds a custom role; ACTIVE where nothing else is said.
func (w *accessWorld) role(r resources.Role) {
	w.T.Helper()
	if r.Status == "" {
		r.Status = resources.StatusActive
	}
	r.IsCustom, r.CreatedAt, r.UpdatedAt = true, areatest.Start, areatest.Start
	w.Write(func(ctx context.Context, tx store.Tx) error { return w.Collections.Roles.Insert(ctx, tx, r) })
}

// key adds a user's API key; its scopes are those that a test comes with (by).
func (w *accessWorld) key(account, user string) {
	w.T.Helper()
	w.Write(func(ctx context.Context, tx store.Tx) error {
		return w.Collections.APIKeys.Insert(ctx, tx, resources.APIKey{ID: "apikey-" + user, AccountID: account, UserID: user})
	})
}

// keyCaller is a user with an API key of these scopes (world.key).
func keyCaller(account, id string, scopes ...string) resources.Principal {
	return areatest.By(account, id, "apikey-"+id, scopes...)
}

// call asks a handler. Params are "name=value" pairs joined by commas. A body is a string or rendered as JSON; nil
// sends none.
func (w *accessWorld) call(route string, caller resources.Principal, params, query string, body any) areatest.Answer {
	w.T.Helper()
	r := &wire.Request{Principal: caller, Params: map[string]string{}, Query: query, RequestID: "test", Body: areatest.Body(body)}
	for pair := range strings.SplitSeq(params, ",") {
		name, value, _ := strings.Cut(pair, "=")
		r.Params[name] = value
	}
	return w.Ask(route, r)
}
