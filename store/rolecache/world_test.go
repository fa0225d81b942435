package rolecache_test

import (
	"context"
	"encoding/json"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/rolecache"
	"github.com/portcullis-authz/portcullis/store/storetest"
	"github.com/portcullis-authz/portcullis/test/must"
)

// The ids of the tests.
const (
	account, other = "acct-a-v1", "acct-b-v1"
	user, second   = "user-u-v1", "user-w-v1"
)

// engine is the part of a store that the cache uses, as functions: a test can delay, fail or count each of them.
type engine struct {
	store.Store
	freshness func(context.Context) (store.Freshness, error)
	changes   func(ctx context.Context, after int64, limit int) ([]store.AccountRevision, bool, error)
	view      func(context.Context, func(store.Tx) error) error
	lease     func(context.Context, time.Duration) error
}

func (e *engine) Freshness(ctx context.Context) (store.Freshness, error) { return e.freshness(ctx) }

func (e *engine) Lease(ctx context.Context, d time.Duration) error { return e.lease(ctx, d) }

func (e *engine) View(ctx context.Context, fn func(store.Tx) error) error { return e.view(ctx, fn) }

func (e *engine) Changes(ctx context.Context, after int64, limit int) ([]store.AccountRevision, bool, error) {
	return e.changes(ctx, after, limit)
}

// world is the data behind an engine, and a cache before it.
type world struct {
	engine
	t     *testing.T
	cache *rolecache.Cache

	mu         sync.Mutex
	generation string
	epoch      int64
	revisions  map[string]store.AccountRevision
	moved      map[string]int64 // the epoch of the last move of each account
	users      map[string]resources.User
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		t: t, generation: "one", epoch: 7,
		revisions: map[string]store.AccountRevision{}, moved: map[string]int64{}, users: map[string]resources.User{},
	}
	w.engine = engine{freshness: w.tellFreshness, changes: w.tellChanges, view: w.tellView}
	w.cache = rolecache.New(w, records.NewCollections(), rolecache.Options{Entries: 1000})
	for _, a := range []string{account, other} {
		w.change(a, nil)
	}
	w.set(user, func(u *resources.User) { u.AccountID, u.Status, u.AuthenticationPartnerID = account, "ACTIVE", "sub-1" })
	return w
}

// change moves the account's revision and the epoch, and calls fn in the same step.
func (w *world) change(account string, fn func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.epoch++
	r := w.revisions[account]
	w.revisions[account], w.moved[account] = store.AccountRevision{AccountID: account, Revision: r.Revision + 1}, w.epoch
	if fn != nil {
		fn()
	}
}

// set changes a user, and moves the revision of the user's account, and of the account before a move.
func (w *world) set(id string, fn func(u *resources.User)) {
	w.t.Helper()
	u := w.users[id]
	before := u.AccountID
	u.ExternalID, u.UUID = id, "uuid-"+id
	fn(&u)
	w.change(u.AccountID, func() { w.users[id] = u })
	if before != "" && before != u.AccountID {
		w.change(before, nil)
	}
}

func (w *world) tellFreshness(context.Context) (store.Freshness, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return store.Freshness{Generation: w.generation, Epoch: w.epoch}, nil
}

func (w *world) tellChanges(_ context.Context, after int64, _ int) (out []store.AccountRevision, complete bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for a, epoch := range w.moved {
		if epoch > after {
			out = append(out, w.revisions[a])
		}
	}
	return out, true, nil
}

// noList is Changes with too many accounts to list.
func noList(context.Context, int64, int) ([]store.AccountRevision, bool, error) {
	return nil, false, nil
}

func (w *world) tellView(_ context.Context, fn func(store.Tx) error) error { return fn(w.snapshot()) }

// snapshot returns a copy of the world for one View.
func (w *world) snapshot() *snapshot {
	w.mu.Lock()
	defer w.mu.Unlock()
	return &snapshot{revisions: maps.Clone(w.revisions), users: maps.Clone(w.users)}
}

// snapshot is a read-only transaction.
type snapshot struct {
	store.Tx
	revisions map[string]store.AccountRevision
	users     map[string]resources.User
}

func (s *snapshot) Revision(_ context.Context, account string) (int64, error) {
	return s.revisions[account].Revision, nil
}

func (s *snapshot) Get(_ context.Context, schema *store.Schema, key string) (store.Row, error) {
	switch schema.Name {
	case "accounts":
		if _, ok := s.revisions[key]; ok {
			return row(key, resources.Account{ID: key, Status: "ACTIVE"})
		}
	case "users":
		if u, ok := s.users[key]; ok {
			return row(key, u)
		}
	case "projects":
		if key == "proj-p-v1" {
			return row(key, resources.Project{ID: key, AccountID: account, State: resources.ProjectActive})
		}
	}
	return store.Row{}, store.ErrNotFound
}

func (s *snapshot) Find(_ context.Context, schema *store.Schema, q store.Query) ([]store.Row, error) {
	if schema.Name != "users" || q.Index != records.ByPartner {
		return nil, nil
	}
	for id, u := range s.users {
		if u.AuthenticationPartnerID != "" && q.Equal[0] == store.String(u.AuthenticationPartnerID) {
			exists, err := row(id, u)
			return []store.Row{exists}, err
		}
	}
	return nil, nil
}

func (s *snapshot) Together(ctx context.Context, account string, reads ...store.Read) (int64, [][]store.Row, error) {
	return storetest.OneByOne(ctx, s, account, reads...)
}

func row(key string, v any) (store.Row, error) {
	body, err := json.Marshal(v)
	return store.Row{Key: key, Revision: 1, Body: body}, err
}

// status asks the cache for the user's status in the account.
func (w *world) status() string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), tooLong) // a question fails if it waits for a delayed read
	defer cancel()
	facts := must.Get(w.cache.Facts(ctx, account, user, ""))(w.t)
	return facts.Subject.UserStatus
}

// tooLong bounds waits that end at once unless the cache is broken.
const tooLong = 10 * time.Second

// await waits for the channel.
func await(t *testing.T, happened <-chan struct{}) {
	t.Helper()
	select {
	case <-happened:
	case <-time.After(tooLong):
		t.Fatalf("not within %v", tooLong)
	}
}

// warm asks once, so that the cache has the user's facts.
func (w *world) warm() {
	w.t.Helper()
	must.Get(w.cache.Facts(w.t.Context(), account, user, ""))(w.t)
}
