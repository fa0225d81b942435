package access_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/access"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/sqlite"
)

// Two accounts, of which the second one is nobody's business in the first.
const (
	acctA, acctB       = "acct-a-v1", "acct-b-v1"
	projA1, projA2     = "proj-a1-v1", "proj-a2-v1"
	projLeaving        = "proj-aleaving-v1" // of A, in state deleting
	projB1             = "proj-b1-v1"
	alice, bob         = "user-alice-v1", "user-bob-v1"    // account_admin of A; project_reader of projA1
	carol, dan         = "user-carol-v1", "user-dan-v1"    // team_member of A; member of A without a role
	ivan               = "user-ivan-v1"                    // INVITED to A
	bea                = "user-bea-v1"                     // account_admin of B
	groupA, groupB     = "group-a-v1", "group-b-v1"        // carol is in groupA
	roleB              = "role-b-v1"                       // a custom ACCOUNT role of B
	start              = resources.Time(1_790_000_000_000) // the clock's first reading
	hour               = resources.Time(3_600_000)
	absent             = "absent-v1"
	policyTestDeadline = 5 * time.Second // the machine may be busy; 50 ms is not what is tested here
)

// policy is the real engine on the embedded tree, made once.
var policy = sync.OnceValues(func() (*engine.Engine, error) {
	return engine.New(context.Background(), policies.Tree(), engine.Options{Deadline: policyTestDeadline})
})

// world is a service on a store of its own.
type world struct {
	t      *testing.T
	ctx    context.Context //nolint:containedctx // that of each request
	store  store.Store
	c      records.Collections
	routes wire.Routes
	clock  *atomic.Int64 // milliseconds
}

// answer is what a handler gave: err is nil where it succeeded.
type answer struct {
	status int
	body   map[string]any
	text   string
	err    *resources.Error
}

// newWorld opens a store with the two accounts in it; configure may change the
// service's configuration.
func newWorld(t *testing.T, configure ...func(*access.Config)) *world {
	t.Helper()
	judge, err := policy()
	if err != nil {
		t.Fatal(err)
	}
	c := records.NewCollections()
	db, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir(), Schemas: c.Schemas()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	w := &world{t: t, ctx: t.Context(), store: db, c: c, clock: &atomic.Int64{}}
	w.clock.Store(int64(start))
	tokens, err := wire.NewPageTokens([][]byte{make([]byte, 32)})
	if err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return time.UnixMilli(w.clock.Load()) }
	cfg := access.Config{
		Store: db, Collections: c, Judge: judge.Inside(), Tokens: tokens,
		IDs: resources.IDs{Now: now, Random: rand.Reader}, Now: now,
	}
	for _, f := range configure {
		f(&cfg)
	}
	cfg.Idempotency = idempotency.New(cfg.Store, c, now)
	w.routes = wire.Routes{}
	svc := access.New(cfg)
	for _, routes := range []wire.Routes{svc.AccountRoutes(), svc.GroupRoutes(), svc.RoleRoutes()} {
		maps.Copy(w.routes, routes)
	}
	w.seed()
	return w
}

// in is the same world for a sub-test.
func (w *world) in(t *testing.T) *world {
	sub := *w
	sub.t, sub.ctx = t, t.Context()
	return &sub
}

func (w *world) seed() {
	w.write(func(ctx context.Context, tx store.Tx) error {
		for _, p := range []resources.Project{
			{ID: projA1, AccountID: acctA, Name: "one", State: resources.ProjectActive},
			{ID: projA2, AccountID: acctA, Name: "two", State: resources.ProjectActive},
			{ID: projLeaving, AccountID: acctA, Name: "leaving", State: resources.ProjectDeleting},
			{ID: projB1, AccountID: acctB, Name: "one", State: resources.ProjectActive},
		} {
			p.CreatedAt, p.UpdatedAt = start, start
			if err := w.c.Projects.Insert(ctx, tx, p); err != nil {
				return err
			}
		}
		for _, id := range []string{acctA, acctB} {
			a := resources.Account{ID: id, Name: id, Status: resources.StatusActive, CreatedAt: start, UpdatedAt: start}
			if err := w.c.Accounts.Insert(ctx, tx, a); err != nil {
				return err
			}
		}
		return nil
	})
	for _, id := range []string{alice, bob, carol, dan} {
		w.user(acctA, id, resources.StatusActive)
	}
	w.user(acctA, ivan, resources.StatusInvited)
	w.user(acctB, bea, resources.StatusActive)
	w.group(acctA, groupA, carol)
	w.group(acctB, groupB, bea)
	w.role(resources.Role{ID: roleB, Name: "theirs", Scope: resources.RoleScopeAccount, AccountID: acctB, Permissions: []string{"account:user:read"}})
	w.assign(resources.Assignment{AccountID: acctA, AssigneeID: alice, RoleID: resources.RoleAccountAdmin})
	w.assign(resources.Assignment{AccountID: acctA, AssigneeID: bob, RoleID: "project_reader", ProjectID: projA1})
	w.assign(resources.Assignment{AccountID: acctA, AssigneeID: carol, RoleID: "team_member"})
	w.assign(resources.Assignment{AccountID: acctB, AssigneeID: bea, RoleID: resources.RoleAccountAdmin})
}

// write puts something into the store behind the handlers' back.
func (w *world) write(fn func(ctx context.Context, tx store.Tx) error) {
	w.t.Helper()
	ctx := w.t.Context()
	if err := w.store.Transact(ctx, func(tx store.Tx) error { return fn(ctx, tx) }); err != nil {
		w.t.Fatal(err)
	}
}

// user adds a member of the account.
func (w *world) user(account, id, status string) {
	w.t.Helper()
	w.write(func(ctx context.Context, tx store.Tx) error {
		return w.c.Users.Insert(ctx, tx, resources.User{
			ExternalID: id, UUID: "uuid-" + id, AccountID: account, Email: id + "@example.com", Status: status,
			MemberSince: start, CreatedAt: start, UpdatedAt: start,
		})
	})
}

// group adds a group with members.
func (w *world) group(account, id string, members ...string) {
	w.t.Helper()
	w.write(func(ctx context.Context, tx store.Tx) error {
		for _, user := range members {
			if err := w.c.Members.Insert(ctx, tx, resources.GroupMember{
				ID: records.MemberID(id, user), AccountID: account, GroupID: id, UserID: user, AddedAt: start,
			}); err != nil {
				return err
			}
		}
		return w.c.Groups.Insert(ctx, tx, resources.Group{ID: id, AccountID: account, Name: id, CreatedAt: start, UpdatedAt: start})
	})
}

// role adds a custom role; ACTIVE where nothing else is said.
func (w *world) role(r resources.Role) {
	w.t.Helper()
	if r.Status == "" {
		r.Status = resources.StatusActive
	}
	r.IsCustom, r.CreatedAt, r.UpdatedAt = true, start, start
	w.write(func(ctx context.Context, tx store.Tx) error { return w.c.Roles.Insert(ctx, tx, r) })
}

// key adds a user's API key; its scopes are those that a test comes with (by).
func (w *world) key(account, user string) {
	w.t.Helper()
	w.write(func(ctx context.Context, tx store.Tx) error {
		return w.c.APIKeys.Insert(ctx, tx, resources.APIKey{ID: "apikey-" + user, AccountID: account, UserID: user})
	})
}

// assign adds an assignment; to a user, ACTIVE and with the role's scope where nothing
// else is said.
func (w *world) assign(a resources.Assignment) {
	w.t.Helper()
	if a.AssigneeType == "" {
		a.AssigneeType = resources.AssigneeUser
	}
	if a.Status == "" {
		a.Status = resources.StatusActive
	}
	judge, err := policy()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, role := range judge.Roles() {
		if role.ID == a.RoleID && a.RoleScope == "" {
			a.RoleScope = role.Scope
		}
	}
	a.ID, a.CreatedAt, a.UpdatedAt = records.AssignmentID(a), start, start
	w.write(func(ctx context.Context, tx store.Tx) error {
		if a.RoleScope == "" {
			role, err := w.c.Roles.Get(ctx, tx, a.RoleID)
			if err != nil {
				return err
			}
			a.RoleScope = role.Value.Scope
		}
		return w.c.Assignments.Insert(ctx, tx, a)
	})
}

// as is a signed-in user of the account.
func as(account, id string) resources.Principal {
	return resources.Principal{
		Kind: resources.PrincipalUser, ID: id, UUID: "uuid-" + id, AccountID: account, Credential: resources.CredentialToken,
	}
}

// by is the same user with an API key of these scopes (world.key).
func by(account, id string, scopes ...string) resources.Principal {
	p := as(account, id)
	p.Credential, p.KeyID, p.KeyScopes = resources.CredentialKey, "apikey-"+id, scopes
	return p
}

// service is a service with these scopes.
func service(scopes ...string) resources.Principal {
	return resources.Principal{
		Kind: resources.PrincipalService, ID: "service-test", Scopes: scopes, Credential: resources.CredentialToken,
	}
}

// call asks a handler. Params are "name=value" pairs joined by commas; a body that is
// no string is rendered as JSON, nil is none.
func (w *world) call(route string, who resources.Principal, params, query string, body any) answer {
	w.t.Helper()
	r := &wire.Request{Principal: who, Params: map[string]string{}, Query: query, RequestID: "test"}
	for pair := range strings.SplitSeq(params, ",") {
		name, value, _ := strings.Cut(pair, "=")
		r.Params[name] = value
	}
	switch b := body.(type) {
	case nil:
	case string:
		r.Body = []byte(b)
	default:
		raw, err := json.Marshal(b)
		if err != nil {
			w.t.Fatal(err)
		}
		r.Body = raw
	}
	handler, ok := w.routes[route]
	if !ok {
		w.t.Fatalf("no route %q", route)
	}
	out, err := handler(w.ctx, r)
	if err != nil {
		e := resources.AsError(err)
		return answer{status: wire.Status(e.Kind), err: e, text: string(wire.ErrorBody(resources.AreaAccess, e))}
	}
	raw, err := json.Marshal(out.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	got := answer{status: out.Status, text: string(raw)}
	if err := json.Unmarshal(raw, &got.body); err != nil {
		w.t.Fatal(err)
	}
	return got
}

// expect fails unless the answer has that status, and each of texts is in it.
func (w *world) expect(got answer, status int, texts ...string) {
	w.t.Helper()
	if got.status != status {
		w.t.Fatalf("status %d, want %d: %s (cause: %v)", got.status, status, got.text, got.err)
	}
	for _, text := range texts {
		if !strings.Contains(got.text, text) {
			w.t.Errorf("%q is not in the answer %s", text, got.text)
		}
	}
}

// revision is the account's.
func (w *world) revision(account string) (revision int64) {
	w.t.Helper()
	w.write(func(ctx context.Context, tx store.Tx) (err error) {
		revision, err = tx.Revision(ctx, account)
		return err
	})
	return revision
}
