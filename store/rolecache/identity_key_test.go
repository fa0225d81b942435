package rolecache_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/rolecache"
	"github.com/portcullis-authz/portcullis/store/sqlite"
	"github.com/portcullis-authz/portcullis/test/must"
)

const (
	keyAccount, keyOther = "acct-key-v1", "acct-keyother-v1"
	keyUser              = "user-key-v1"
	keyStart             = resources.Time(1_790_000_000_000)
)

// keyStore counts the views of a store, and fails them while down is true.
type keyStore struct {
	store.Store
	views atomic.Int64
	down  atomic.Bool
}

func (s *keyStore) View(ctx context.Context, fn func(store.Tx) error) error {
	s.views.Add(1)
	if s.down.Load() {
		return store.ErrUnavailable
	}
	return s.Store.View(ctx, fn)
}

// keyWorld is a cache before a store with one user in the first of two accounts.
type keyWorld struct {
	t     *testing.T
	store *keyStore
	c     records.Collections
	cache *rolecache.Cache
}

func newKeyWorld(t *testing.T) *keyWorld {
	t.Helper()
	c := records.NewCollections()
	db := must.Get(sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir(), Schemas: c.Schemas()}))(t)
	t.Cleanup(func() { _ = db.Close() })
	w := &keyWorld{t: t, store: &keyStore{Store: db}, c: c}
	w.cache = rolecache.New(w.store, c, rolecache.Options{Entries: 100})
	w.change(func(ctx context.Context, tx store.Tx) error {
		for _, id := range []string{keyAccount, keyOther} {
			if err := c.Accounts.Insert(ctx, tx, resources.Account{ID: id, Status: resources.StatusActive}); err != nil {
				return err
			}
		}
		return c.Users.Insert(ctx, tx, resources.User{
			ExternalID: keyUser, UUID: "uuid-key", AccountID: keyAccount, Email: "key@example.com", Status: resources.StatusActive,
		})
	})
	return w
}

// change runs fn in a transaction that moves the account's revision.
func (w *keyWorld) change(fn func(ctx context.Context, tx store.Tx) error) {
	w.t.Helper()
	ctx := w.t.Context()
	must.Do(w.t, w.store.Transact(ctx, func(tx store.Tx) error {
		if _, err := tx.Bump(ctx, keyAccount); err != nil {
			return err
		}
		return fn(ctx, tx)
	}))
}

func (w *keyWorld) addKey(id string) {
	w.t.Helper()
	w.change(func(ctx context.Context, tx store.Tx) error {
		return w.c.APIKeys.Insert(ctx, tx, resources.APIKey{
			ID: id, AccountID: keyAccount, UserID: keyUser, Name: id, Scopes: []string{resources.KeyScopeRead},
			Hash: []byte("hash of " + id), CreatedAt: keyStart, ExpiresAt: keyStart + 1,
		})
	})
}

func (w *keyWorld) revoke(id string) {
	w.t.Helper()
	w.change(func(ctx context.Context, tx store.Tx) error {
		rec, err := w.c.APIKeys.Get(ctx, tx, id)
		if err != nil {
			return err
		}
		rec.Value.RevokedAt = keyStart
		return w.c.APIKeys.Replace(ctx, tx, rec)
	})
}

func (w *keyWorld) setUser(change func(u *resources.User)) {
	w.t.Helper()
	w.change(func(ctx context.Context, tx store.Tx) error {
		rec, err := w.c.Users.Get(ctx, tx, keyUser)
		if err != nil {
			return err
		}
		change(&rec.Value)
		return w.c.Users.Replace(ctx, tx, rec)
	})
}

// identify asks the cache, and returns how many views of the store that cost.
func (w *keyWorld) identify(id string) (got resources.KeyIdentity, exists bool, views int64) {
	w.t.Helper()
	before := w.store.views.Load()
	got, exists = must.Two(w.cache.IdentifyKey(w.t.Context(), id))(w.t)
	if !exists && (got.Owner.ID != "" || got.Key.ID != "" || got.Key.Hash != nil) {
		w.t.Errorf("an unknown key comes with %+v", got)
	}
	return got, exists, w.store.views.Load() - before
}

func TestAPIKeyIsIdentifiedWithItsOwner(t *testing.T) {
	w := newKeyWorld(t)
	w.addKey("apikey-1-v1")
	w.addKey("apikey-2-v1")
	for range 2 {
		got, exists, _ := w.identify("apikey-2-v1")
		want := resources.Identity{ID: keyUser, UUID: "uuid-key", AccountID: keyAccount, Status: resources.StatusActive}
		if !exists || got.Owner != want {
			t.Fatalf("%t %+v", exists, got)
		}
		k := got.Key
		if k.ID != "apikey-2-v1" || string(k.Hash) != "hash of apikey-2-v1" || len(k.Scopes) != 1 || k.ExpiresAt != keyStart+1 {
			t.Errorf("%+v", k)
		}
	}
	if _, _, views := w.identify("apikey-2-v1"); views != 0 {
		t.Errorf("a known key costs %d reads of the store", views)
	}
	if _, exists, views := w.identify("apikey-1-v1"); !exists || views != 1 {
		t.Errorf("the same user's other key: %t, %d reads", exists, views)
	}
}

// TestUnknownAPIKeyCostsOneRead guarantees that the cache looks up an unknown key once until the store moves, and finds
// a new key at once.
func TestUnknownAPIKeyCostsOneRead(t *testing.T) {
	w := newKeyWorld(t)
	for _, reads := range []int64{1, 0, 0} {
		if _, exists, views := w.identify("apikey-1-v1"); exists || views != reads {
			t.Fatalf("%t, %d reads, want %d", exists, views, reads)
		}
	}
	w.addKey("apikey-1-v1")
	if _, exists, _ := w.identify("apikey-1-v1"); !exists {
		t.Error("a key that was asked for before it was made is refused")
	}
	// Neither a user nor a token's subject is a key.
	for _, id := range []string{keyUser, "", "uuid-key"} {
		if _, exists, _ := w.identify(id); exists {
			t.Errorf("%q is a key", id)
		}
	}
	if _, exists, err := w.cache.Identify(t.Context(), "apikey-1-v1", true, true); exists || err != nil {
		t.Errorf("a key's id is a subject: %t %v", exists, err)
	}
}

func TestRevokedAPIKeyIsUnknownAtOnce(t *testing.T) {
	w := newKeyWorld(t)
	w.addKey("apikey-1-v1")
	w.addKey("apikey-2-v1")
	w.identify("apikey-1-v1")
	w.revoke("apikey-1-v1")
	if _, exists, _ := w.identify("apikey-1-v1"); exists {
		t.Error("still known")
	}
	if _, exists, views := w.identify("apikey-1-v1"); exists || views != 0 {
		t.Errorf("asked again: %t, %d reads", exists, views)
	}
	if _, exists, _ := w.identify("apikey-2-v1"); !exists {
		t.Error("the other key is unknown too")
	}
}

func TestAPIKeyFollowsItsOwner(t *testing.T) {
	w := newKeyWorld(t)
	w.addKey("apikey-1-v1")
	w.identify("apikey-1-v1")
	w.setUser(func(u *resources.User) { u.Status = resources.StatusSuspended })
	if got, exists, _ := w.identify("apikey-1-v1"); !exists || got.Owner.Status != resources.StatusSuspended {
		t.Errorf("%t %+v", exists, got)
	}
	w.setUser(func(u *resources.User) { u.Status = resources.StatusActive })
	if got, exists, _ := w.identify("apikey-1-v1"); !exists || got.Owner.Status != resources.StatusActive {
		t.Errorf("%t %+v", exists, got)
	}
	for name, account := range map[string]string{"to another account": keyOther, "to none": ""} {
		w.setUser(func(u *resources.User) { u.AccountID = account })
		if _, exists, _ := w.identify("apikey-1-v1"); exists {
			t.Errorf("the owner has gone %s, and the key is known", name)
		}
	}
	w.change(func(ctx context.Context, tx store.Tx) error {
		rec, err := w.c.Users.Get(ctx, tx, keyUser)
		if err != nil {
			return err
		}
		return w.c.Users.Delete(ctx, tx, rec)
	})
	if _, exists, _ := w.identify("apikey-1-v1"); exists {
		t.Error("the owner is no more, and the key is known")
	}
}

func TestAPIKeyThatCannotBeLookedUpIsAnError(t *testing.T) {
	w := newKeyWorld(t)
	w.addKey("apikey-1-v1")
	w.store.down.Store(true)
	if _, exists, err := w.cache.IdentifyKey(t.Context(), "apikey-1-v1"); exists || !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("unknown owner: %t %v", exists, err)
	}
	w.store.down.Store(false)
	w.identify("apikey-1-v1")
	w.addKey("apikey-2-v1") // another revision
	w.store.down.Store(true)
	if _, exists, err := w.cache.IdentifyKey(t.Context(), "apikey-1-v1"); exists || !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("known owner: %t %v", exists, err)
	}
	w.store.down.Store(false)
	if _, exists, _ := w.identify("apikey-1-v1"); !exists {
		t.Error("the failure is remembered")
	}
}
