package users_test

import (
	"context"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/resources/users"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// Two accounts, without access to each other.
const (
	acctA, acctB = "acct-a-v1", "acct-b-v1"
	alice, bob   = "user-alice-v1", "user-bob-v1" // account_admin of A; team_member of A
	bea          = "user-bea-v1"                  // account_admin of B
	nora         = "user-nora-v1"                 // of no account
	absent       = "absent-v1"
	minute, day  = resources.Time(60_000), resources.Time(86_400_000)
)

// usersWorld is the area, with a clock and a store of its own.
type usersWorld struct {
	*areatest.World
	users *users.Service
}

func newWorld(t *testing.T) *usersWorld {
	t.Helper()
	w := &usersWorld{World: areatest.New(t, resources.AreaUsers)}
	w.users = users.New(users.Config{
		Store: w.Store, Collections: w.Collections, Judge: areatest.Policy(t).Inside().Decide, Idempotency: w.Idempotency(),
		Tokens: areatest.PageTokens(t), IDs: w.IDs(), Now: w.Clock.Now, IdentityProvider: "OIDC",
		Invite: func(a resources.Account, u resources.User, now resources.Time) resources.Message {
			return resources.Message{
				ID: w.IDs().ULID(), Kind: resources.MessageInvitation, State: resources.MessagePending, To: u.Email,
				AccountID: a.ID, AccountName: a.Name, UserID: u.ExternalID, NextAt: now, CreatedAt: now,
			}
		},
	})
	w.Routes = w.users.Routes()
	w.seed()
	return w
}

func (w *usersWorld) seed() {
	w.AddAccounts(acctA, acctB)
	w.AddUser(acctA, alice, resources.StatusActive)
	w.AddUser(acctA, bob, resources.StatusActive)
	w.AddUser(acctB, bea, resources.StatusActive)
	w.AddUser("", nora, resources.StatusActive)
	w.assign(acctA, alice, resources.RoleAccountAdmin)
	w.assign(acctA, bob, "team_member")
	w.assign(acctB, bea, resources.RoleAccountAdmin)
}

// subTest is the same world for a sub-test.
func (w *usersWorld) subTest(t *testing.T) *usersWorld {
	sub := *w
	sub.World = w.In(t)
	return &sub
}

// pass moves the clock.
func (w *usersWorld) pass(step resources.Time) { w.Clock.Add(int64(step)) }

// assign gives a user a role in the account.
func (w *usersWorld) assign(account, user, role string) {
	w.T.Helper()
	w.Assign(resources.Assignment{AccountID: account, AssigneeID: user, RoleID: role})
}

// get reads a user, by the external id.
func (w *usersWorld) get(id string) (u resources.User) {
	w.T.Helper()
	w.Write(func(ctx context.Context, tx store.Tx) error {
		rec, err := w.Collections.Users.Get(ctx, tx, id)
		u = rec.Value
		return err
	})
	return u
}

// byEmail reads a user, by the address.
func (w *usersWorld) byEmail(email string) (u resources.User) {
	w.T.Helper()
	w.Write(func(ctx context.Context, tx store.Tx) error {
		rec, err := w.Collections.UserByEmail(ctx, tx, email)
		u = rec.Value
		return err
	})
	return u
}

// mails are the messages that wait.
func (w *usersWorld) mails() (out []resources.Message) {
	w.T.Helper()
	w.Write(func(ctx context.Context, tx store.Tx) error {
		recs, err := w.Collections.Outbox.Find(ctx, tx, store.Query{Index: records.ByDue, Equal: []store.Value{store.String(resources.MessagePending)}})
		for _, rec := range recs {
			out = append(out, rec.Value)
		}
		return err
	})
	return out
}

// roles are what the user holds in the account, direct or through groups.
func (w *usersWorld) roles(account, user string) (out []string) {
	w.T.Helper()
	w.Write(func(ctx context.Context, tx store.Tx) error {
		held, err := w.Collections.HeldRoles(ctx, tx, account, user)
		for _, h := range held {
			out = append(out, h.RoleID)
		}
		return err
	})
	return out
}

// syncer is the service that keeps users in step.
func syncer() resources.Principal { return areatest.Service(resources.ServiceScopeUsers) }

// ask makes a request about the user in the account, under every name that a path has for them.
func ask(caller resources.Principal, account, user string, body any) *wire.Request {
	return &wire.Request{
		Principal: caller, AccountID: account, RequestID: "test", Path: "/" + account + "/" + user,
		Params: map[string]string{"account_id": account, "accountId": account, "user_id": user, "userId": user},
		Body:   areatest.Body(body),
	}
}

// call asks a handler. A body is a string or rendered as JSON; nil sends none.
func (w *usersWorld) call(route string, caller resources.Principal, account, user string, body any) areatest.Answer {
	w.T.Helper()
	return w.Ask(route, ask(caller, account, user, body))
}
