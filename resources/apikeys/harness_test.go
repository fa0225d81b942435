package apikeys_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"log/slog"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/apikeys"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// Two accounts, without access to each other.
const (
	acctA, acctB = "acct-a-v1", "acct-b-v1"
	alice, bob   = "user-alice-v1", "user-bob-v1" // account_admin of A; member of A without a role
	carol        = "user-carol-v1"                // account_reader of A
	bea          = "user-bea-v1"                  // account_admin of B
	absent       = "absent-v1"
	minute       = resources.Time(60_000)
)

// keysWorld is the area, with a clock and a store of its own.
type keysWorld struct {
	*areatest.World
	master resources.MasterKey
	keys   resources.APIKeys
	uses   *apikeys.Uses
}

func newWorld(t *testing.T) *keysWorld {
	t.Helper()
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails
	w := &keysWorld{World: areatest.New(t, resources.AreaUsers)}
	var err error
	if w.master, err = resources.ReadMasterKey(strings.NewReader(base64.StdEncoding.EncodeToString(secret))); err != nil {
		t.Fatal(err)
	}
	w.keys = resources.NewAPIKeys(w.master)
	w.Routes = apikeys.New(apikeys.Config{
		Store: w.Store, Collections: w.Collections, Judge: areatest.Policy(t).Inside().Decide, Keys: w.keys,
		Idempotency: w.Idempotency(), IDs: w.IDs(), Now: w.Clock.Now,
	}).Routes()
	w.uses = apikeys.NewUses(apikeys.UsesConfig{Store: w.Store, Collections: w.Collections, Log: slog.New(slog.DiscardHandler)})
	w.seed()
	return w
}

// subTest is the same world for a sub-test.
func (w *keysWorld) subTest(t *testing.T) *keysWorld {
	sub := *w
	sub.World = w.In(t)
	return &sub
}

func (w *keysWorld) now() resources.Time { return resources.At(w.Clock.Now()) }

func (w *keysWorld) seed() {
	w.AddAccounts(acctA, acctB)
	for id, account := range map[string]string{alice: acctA, bob: acctA, carol: acctA, bea: acctB} {
		w.AddUser(account, id, resources.StatusActive)
	}
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeID: alice, RoleID: resources.RoleAccountAdmin})
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeID: carol, RoleID: "account_reader"})
	w.Assign(resources.Assignment{AccountID: acctB, AssigneeID: bea, RoleID: resources.RoleAccountAdmin})
}

// write changes the store behind the handlers' back.
func (w *keysWorld) write(account string, fn func(ctx context.Context, tx store.Tx) error) {
	w.T.Helper()
	w.Write(func(ctx context.Context, tx store.Tx) error {
		if _, err := tx.Bump(ctx, account); err != nil {
			return err
		}
		return fn(ctx, tx)
	})
}

// keyCaller is a user with an API key of both scopes.
func keyCaller(account, id, keyID string) resources.Principal {
	return areatest.By(account, id, keyID, resources.KeyScopeRead, resources.KeyScopeWrite)
}

// call asks a handler about the keys of a user; keyID is api_key.revoke's. A body is a string or
// rendered as JSON; nil sends none.
func (w *keysWorld) call(route string, caller resources.Principal, account, user, keyID string, body any) areatest.Answer {
	w.T.Helper()
	r := &wire.Request{Principal: caller, Params: map[string]string{"account_id": account, "user_id": user}, AccountID: account, Body: areatest.Body(body)}
	if keyID != "" {
		r.Params["id"] = keyID
	}
	if query, ok := strings.CutPrefix(route, "?"); ok {
		route, r.Query, _ = strings.Cut(query, " ")
	}
	got := w.Ask(route, r)
	if success, _ := got.Body["success"].(bool); success != (got.Err == nil) {
		w.T.Fatal(got.Text)
	}
	return got
}

// made is a user's own new key with both scopes.
func (w *keysWorld) made(account, user string) (raw, id string) {
	w.T.Helper()
	got := w.call("api_key.create", areatest.As(account, user), account, user, "", areatest.Object{"key_name": "k", "scopes": []string{"read", "write"}})
	w.Expect(got, 201)
	return got.Str("data.raw_key"), got.Str("data.id")
}

// list are the user's keys as they see them.
func (w *keysWorld) list(account, user string) []map[string]any {
	w.T.Helper()
	got := w.call("api_key.list", areatest.As(account, user), account, user, "", nil)
	w.Expect(got, 200)
	all := got.At("data.keys").([]any)
	out := make([]map[string]any, len(all))
	for i, k := range all {
		out[i] = k.(map[string]any)
	}
	return out
}
