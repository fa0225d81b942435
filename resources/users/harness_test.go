package users_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/users"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/sqlite"
)

// Two accounts, of which the second one is nobody's business in the first.
const (
	acctA, acctB       = "acct-a-v1", "acct-b-v1"
	alice, bob         = "user-alice-v1", "user-bob-v1" // account_admin of A; team_member of A
	bea                = "user-bea-v1"                  // account_admin of B
	nora               = "user-nora-v1"                 // of no account
	absent             = "absent-v1"
	start              = resources.Time(1_790_000_000_000) // the clock's first reading
	minute, day        = resources.Time(60_000), resources.Time(86_400_000)
	policyTestDeadline = 5 * time.Second // the machine may be busy; 50 ms is not what is tested here
)

// policy is the real engine on the embedded tree, made once.
var policy = sync.OnceValues(func() (*engine.Engine, error) {
	return engine.New(context.Background(), policies.Tree(), engine.Options{Deadline: policyTestDeadline})
})

type object map[string]any

// world is the area on a store of its own.
type world struct {
	t      *testing.T
	store  store.Store
	c      records.Collections
	users  *users.Service
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

func newWorld(t *testing.T) *world {
	t.Helper()
	judge, err := policy()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, c: records.NewCollections(), clock: &atomic.Int64{}}
	w.clock.Store(int64(start))
	if w.store, err = sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir(), Schemas: w.c.Schemas()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.store.Close() })
	tokens, err := wire.NewPageTokens([][]byte{make([]byte, 32)})
	if err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return time.UnixMilli(w.clock.Load()) }
	ids := resources.IDs{Now: now, Random: rand.Reader}
	w.users = users.New(users.Config{
		Store: w.store, Collections: w.c, Judge: judge.Inside(), Idempotency: idempotency.New(w.store, w.c, now),
		Tokens: tokens, IDs: ids, Now: now, IdentityProvider: "OIDC",
		Invite: func(a resources.Account, u resources.User, now resources.Time) resources.Message {
			return resources.Message{
				ID: ids.ULID(), Kind: resources.MessageInvitation, State: resources.MessagePending, To: u.Email,
				AccountID: a.ID, AccountName: a.Name, UserID: u.ExternalID, NextAt: now, CreatedAt: now,
			}
		},
	})
	w.routes = w.users.Routes()
	w.seed()
	return w
}

func (w *world) seed() {
	w.write(func(ctx context.Context, tx store.Tx) error {
		for _, id := range []string{acctA, acctB} {
			if err := w.c.Accounts.Insert(ctx, tx, resources.Account{ID: id, Name: "Name of " + id, Status: resources.StatusActive}); err != nil {
				return err
			}
		}
		return nil
	})
	w.user(alice, acctA, resources.StatusActive)
	w.user(bob, acctA, resources.StatusActive)
	w.user(bea, acctB, resources.StatusActive)
	w.user(nora, "", resources.StatusActive)
	w.assign(acctA, alice, resources.RoleAccountAdmin)
	w.assign(acctA, bob, "team_member")
	w.assign(acctB, bea, resources.RoleAccountAdmin)
}

// in is the same world for a sub-test.
func (w *world) in(t *testing.T) *world {
	sub := *w
	sub.t = t
	return &sub
}

// pass moves the clock.
func (w *world) pass(by resources.Time) { w.clock.Add(int64(by)) }

// write puts something into the store behind the handlers' back.
func (w *world) write(fn func(ctx context.Context, tx store.Tx) error) {
	w.t.Helper()
	ctx := w.t.Context()
	if err := w.store.Transact(ctx, func(tx store.Tx) error { return fn(ctx, tx) }); err != nil {
		w.t.Fatal(err)
	}
}

// user adds one; its UUID and address are made of the id.
func (w *world) user(id, account, status string) {
	w.t.Helper()
	u := resources.User{
		ExternalID: id, UUID: "uuid-" + id, AccountID: account, Email: id + "@example.com", Name: "Name of " + id,
		Status: status, AuthenticationType: "unknown", CreatedAt: start, UpdatedAt: start,
	}
	if account != "" {
		u.MemberSince = start
	}
	if status == resources.StatusInvited {
		u.InvitedAt = resources.Time(w.clock.Load())
	}
	w.write(func(ctx context.Context, tx store.Tx) error { return w.c.Users.Insert(ctx, tx, u) })
}

func (w *world) assign(account, user, role string) {
	w.t.Helper()
	a := resources.Assignment{
		AccountID: account, RoleID: role, RoleScope: resources.RoleScopeAccount, AssigneeType: resources.AssigneeUser,
		AssigneeID: user, Status: resources.StatusActive, CreatedAt: start, UpdatedAt: start,
	}
	a.ID = records.AssignmentID(a)
	w.write(func(ctx context.Context, tx store.Tx) error { return w.c.Assignments.Insert(ctx, tx, a) })
}

// change changes a user behind the handlers' back.
func (w *world) change(id string, fn func(u *resources.User)) {
	w.t.Helper()
	w.write(func(ctx context.Context, tx store.Tx) error {
		rec, err := w.c.Users.Get(ctx, tx, id)
		if err != nil {
			return err
		}
		fn(&rec.Value)
		return w.c.Users.Replace(ctx, tx, rec)
	})
}

// suspend stops an account.
func (w *world) suspend(id string) {
	w.t.Helper()
	w.write(func(ctx context.Context, tx store.Tx) error {
		rec, err := w.c.Accounts.Get(ctx, tx, id)
		if err != nil {
			return err
		}
		rec.Value.Status = resources.StatusSuspended
		return w.c.Accounts.Replace(ctx, tx, rec)
	})
}

// get reads a user, by the external id.
func (w *world) get(id string) (u resources.User) {
	w.t.Helper()
	w.write(func(ctx context.Context, tx store.Tx) error {
		rec, err := w.c.Users.Get(ctx, tx, id)
		u = rec.Value
		return err
	})
	return u
}

// byEmail reads a user, by the address.
func (w *world) byEmail(email string) (u resources.User) {
	w.t.Helper()
	w.write(func(ctx context.Context, tx store.Tx) error {
		rec, err := w.c.UserByEmail(ctx, tx, email)
		u = rec.Value
		return err
	})
	return u
}

// mails are the messages that wait.
func (w *world) mails() (out []resources.Message) {
	w.t.Helper()
	w.write(func(ctx context.Context, tx store.Tx) error {
		found, err := w.c.Outbox.Find(ctx, tx, store.Query{Index: records.ByDue, Equal: []store.Value{store.String(resources.MessagePending)}})
		for _, rec := range found {
			out = append(out, rec.Value)
		}
		return err
	})
	return out
}

// roles are what the user holds in the account, direct or through groups.
func (w *world) roles(account, user string) (out []string) {
	w.t.Helper()
	w.write(func(ctx context.Context, tx store.Tx) error {
		held, err := w.c.HeldRoles(ctx, tx, account, user)
		for _, h := range held {
			out = append(out, h.RoleID)
		}
		return err
	})
	return out
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

// as is a signed-in user of the account.
func as(account, id string) resources.Principal {
	return resources.Principal{
		Kind: resources.PrincipalUser, ID: id, UUID: "uuid-" + id, AccountID: account, Credential: resources.CredentialToken,
	}
}

// by is the same user with an API key of these scopes.
func by(account, id, keyID string, scopes ...string) resources.Principal {
	p := as(account, id)
	p.Credential, p.KeyID, p.KeyScopes = resources.CredentialKey, keyID, scopes
	return p
}

// service is a service with these scopes.
func service(scopes ...string) resources.Principal {
	return resources.Principal{
		Kind: resources.PrincipalService, ID: "service-test", Scopes: scopes, Credential: resources.CredentialToken,
	}
}

// syncer is the service that keeps users in step.
func syncer() resources.Principal { return service(resources.ServiceScopeUsers) }

// ask makes a request about the user in the account, under every name that a path has for them.
func ask(who resources.Principal, account, user string, body any) *wire.Request {
	r := &wire.Request{
		Principal: who, AccountID: account, RequestID: "test", Path: "/" + account + "/" + user,
		Params: map[string]string{"account_id": account, "accountId": account, "user_id": user, "userId": user},
	}
	switch b := body.(type) {
	case nil:
	case string:
		r.Body = []byte(b)
	default:
		raw, err := json.Marshal(b)
		if err != nil {
			panic(err)
		}
		r.Body = raw
	}
	return r
}

// call asks a handler; a body that is no string is rendered as JSON, nil is none.
func (w *world) call(route string, who resources.Principal, account, user string, body any) answer {
	w.t.Helper()
	return w.send(route, ask(who, account, user, body))
}

// send hands the request to the handler. It may be called on any goroutine.
func (w *world) send(route string, r *wire.Request) answer {
	handler, ok := w.routes[route]
	if !ok {
		panic("no route " + route)
	}
	out, err := handler(context.Background(), r)
	if err != nil {
		e := resources.AsError(err)
		return answer{status: wire.Status(e.Kind), err: e, text: string(wire.ErrorBody(resources.AreaUsers, e))}
	}
	raw, err := wire.Render(out.Body)
	if err != nil {
		panic(err)
	}
	got := answer{status: out.Status, text: string(raw)}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber() // metadata may hold numbers that no float holds
	if err := dec.Decode(&got.body); err != nil {
		panic(err)
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

// at once runs the calls together and gives their answers.
func atOnce(calls ...func() answer) []answer {
	out := make([]answer, len(calls))
	var ready, done sync.WaitGroup
	ready.Add(len(calls))
	for i, call := range calls {
		done.Go(func() {
			ready.Done()
			ready.Wait()
			out[i] = call()
		})
	}
	done.Wait()
	return out
}
