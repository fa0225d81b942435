package apikeys_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/apikeys"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/sqlite"
)

// Two accounts, of which the second one is nobody's business in the first.
const (
	acctA, acctB = "acct-a-v1", "acct-b-v1"
	alice, bob   = "user-alice-v1", "user-bob-v1" // account_admin of A; member of A without a role
	carol        = "user-carol-v1"                // account_reader of A
	bea          = "user-bea-v1"                  // account_admin of B
	absent       = "absent-v1"
	start        = resources.Time(1_790_000_000_000) // the clock's first reading
	minute       = resources.Time(60_000)
)

// policy is the real engine on the embedded tree, made once.
var policy = sync.OnceValues(func() (*engine.Engine, error) {
	return engine.New(context.Background(), policies.Tree(), engine.Options{Deadline: 5 * time.Second})
})

type object map[string]any

// world is the area on a store of its own.
type world struct {
	t      *testing.T
	dir    string
	store  store.Store
	c      records.Collections
	master resources.MasterKey
	keys   resources.APIKeys
	uses   *apikeys.Uses
	routes wire.Routes
	clock  *atomic.Int64 // milliseconds
}

// answer is what a handler gave: err is nil where it succeeded.
type answer struct {
	status int
	data   map[string]any
	text   string
	err    *resources.Error
	once   string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	judge, err := policy()
	if err != nil {
		t.Fatal(err)
	}
	secret := make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: t.TempDir(), c: records.NewCollections(), clock: &atomic.Int64{}}
	w.clock.Store(int64(start))
	if w.master, err = resources.ReadMasterKey(strings.NewReader(base64.StdEncoding.EncodeToString(secret))); err != nil {
		t.Fatal(err)
	}
	w.keys = resources.NewAPIKeys(w.master)
	if w.store, err = sqlite.Open(t.Context(), sqlite.Options{Dir: w.dir, Schemas: w.c.Schemas()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.store.Close() })
	w.routes = apikeys.New(apikeys.Config{
		Store: w.store, Collections: w.c, Judge: judge.Inside(), Keys: w.keys,
		Idempotency: idempotency.New(w.store, w.c, w.time),
		IDs:         resources.IDs{Now: w.time, Random: rand.Reader}, Now: w.time,
	}).Routes()
	w.uses = apikeys.NewUses(apikeys.UsesConfig{Store: w.store, Collections: w.c, Log: slog.New(slog.DiscardHandler)})
	w.seed()
	return w
}

// in is the same world for a sub-test.
func (w *world) in(t *testing.T) *world {
	sub := *w
	sub.t = t
	return &sub
}

func (w *world) time() time.Time     { return time.UnixMilli(w.clock.Load()) }
func (w *world) now() resources.Time { return resources.Time(w.clock.Load()) }

func (w *world) seed() {
	w.write(acctA, func(ctx context.Context, tx store.Tx) error {
		for _, id := range []string{acctA, acctB} {
			if err := w.c.Accounts.Insert(ctx, tx, resources.Account{ID: id, Name: id, Status: resources.StatusActive}); err != nil {
				return err
			}
		}
		for id, account := range map[string]string{alice: acctA, bob: acctA, carol: acctA, bea: acctB} {
			if err := w.c.Users.Insert(ctx, tx, resources.User{
				ExternalID: id, UUID: "uuid-" + id, AccountID: account, Email: id + "@example.com", Status: resources.StatusActive,
			}); err != nil {
				return err
			}
		}
		for user, role := range map[string]string{alice: resources.RoleAccountAdmin, carol: "account_reader", bea: resources.RoleAccountAdmin} {
			a := resources.Assignment{
				AccountID: acctA, RoleID: role, RoleScope: resources.RoleScopeAccount, AssigneeType: resources.AssigneeUser,
				AssigneeID: user, Status: resources.StatusActive, CreatedAt: start, UpdatedAt: start,
			}
			if user == bea {
				a.AccountID = acctB
			}
			a.ID = records.AssignmentID(a)
			if err := w.c.Assignments.Insert(ctx, tx, a); err != nil {
				return err
			}
		}
		return nil
	})
}

// write changes the store behind the handlers' back.
func (w *world) write(account string, fn func(ctx context.Context, tx store.Tx) error) {
	w.t.Helper()
	ctx := w.t.Context()
	err := w.store.Transact(ctx, func(tx store.Tx) error {
		if _, err := tx.Bump(ctx, account); err != nil {
			return err
		}
		return fn(ctx, tx)
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) setUser(id string, change func(u *resources.User)) {
	w.t.Helper()
	w.write(acctA, func(ctx context.Context, tx store.Tx) error {
		rec, err := w.c.Users.Get(ctx, tx, id)
		if err != nil {
			return err
		}
		change(&rec.Value)
		return w.c.Users.Replace(ctx, tx, rec)
	})
}

func (w *world) setAccount(id, status string) {
	w.t.Helper()
	w.write(id, func(ctx context.Context, tx store.Tx) error {
		rec, err := w.c.Accounts.Get(ctx, tx, id)
		if err != nil {
			return err
		}
		rec.Value.Status = status
		return w.c.Accounts.Replace(ctx, tx, rec)
	})
}

// revision is the account's.
func (w *world) revision(account string) (revision int64) {
	w.t.Helper()
	err := w.store.View(w.t.Context(), func(tx store.Tx) (err error) {
		revision, err = tx.Revision(w.t.Context(), account)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return revision
}

// as is a user who signed in with a token.
func as(account, id string) resources.Principal {
	return resources.Principal{
		Kind: resources.PrincipalUser, ID: id, UUID: "uuid-" + id, AccountID: account, Credential: resources.CredentialToken,
	}
}

// by is the same user with an API key.
func by(account, id, keyID string) resources.Principal {
	p := as(account, id)
	p.Credential, p.KeyID, p.KeyScopes = resources.CredentialKey, keyID, []string{resources.KeyScopeRead, resources.KeyScopeWrite}
	return p
}

// call asks a handler about the keys of a user; keyID is api_key.revoke's. A body that is no
// string is rendered as JSON, nil is none.
func (w *world) call(route string, who resources.Principal, account, user, keyID string, body any) answer {
	w.t.Helper()
	r := &wire.Request{Principal: who, Params: map[string]string{"account_id": account, "user_id": user}, AccountID: account}
	if keyID != "" {
		r.Params["id"] = keyID
	}
	if query, ok := strings.CutPrefix(route, "?"); ok {
		route, r.Query, _ = strings.Cut(query, " ")
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
	out, err := w.routes[route](w.t.Context(), r)
	if err != nil {
		e := resources.AsError(err)
		return answer{status: wire.Status(e.Kind), err: e, text: string(wire.ErrorBody(resources.AreaUsers, e))}
	}
	raw, err := wire.Render(out.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	var success struct {
		Success bool           `json:"success"`
		Data    map[string]any `json:"data"`
	}
	if err := json.Unmarshal(raw, &success); err != nil || !success.Success {
		w.t.Fatalf("%s: %v", raw, err)
	}
	return answer{status: out.Status, text: string(raw), data: success.Data, once: out.ShownOnce}
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

// made is a user's own new key with both scopes.
func (w *world) made(account, user string) (raw, id string) {
	w.t.Helper()
	got := w.call("api_key.create", as(account, user), account, user, "", object{"key_name": "k", "scopes": []string{"read", "write"}})
	w.expect(got, 201)
	return got.data["raw_key"].(string), got.data["id"].(string)
}

// list are the user's keys as they see them.
func (w *world) list(account, user string) []map[string]any {
	w.t.Helper()
	got := w.call("api_key.list", as(account, user), account, user, "", nil)
	w.expect(got, 200)
	all := got.data["keys"].([]any)
	out := make([]map[string]any, len(all))
	for i, k := range all {
		out[i] = k.(map[string]any)
	}
	return out
}
