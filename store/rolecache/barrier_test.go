package rolecache_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestLateLookUpIsNotRemembered guarantees that the cache drops the result of a look-up if the epoch moved meanwhile:
// it may be an older revision.
func TestLateLookUpIsNotRemembered(t *testing.T) {
	w := newWorld(t)
	w.status() // a value of this revision stays in the cache
	changes := w.changes
	w.changes = noList
	w.change(other, nil)
	if _, err := w.cache.Facts(t.Context(), other, second, ""); err != nil { // an incomplete list: the cache forgets all revisions
		t.Fatal(err)
	}
	w.changes = changes
	view, read, release := w.view, make(chan struct{}), make(chan struct{})
	var once sync.Once
	w.view = func(ctx context.Context, fn func(store.Tx) error) error {
		old := w.snapshot()
		held := false
		once.Do(func() { held = true })
		if held { // the look-up of the account's revision has read, and answers late
			close(read)
			<-release
			return fn(old)
		}
		return view(ctx, fn)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		// The answer may be ACTIVE or SUSPENDED: the question began before the change.
		_, _ = w.cache.Facts(t.Context(), account, user, "")
	}()
	await(t, read)
	w.set(user, func(u *resources.User) { u.Status = "SUSPENDED" })
	// A question about another account brings the cache to the new epoch, without a revision of this account.
	must.Get(w.cache.Facts(t.Context(), other, second, ""))(t)
	close(release)
	await(t, done)
	if got := w.status(); got != "SUSPENDED" {
		t.Errorf("a late look-up brought %s back", got)
	}
}

// TestRevisionNeverFalls guarantees that an older revision in a list of changes lowers no revision.
func TestRevisionNeverFalls(t *testing.T) {
	w := newWorld(t)
	w.status() // the value of this revision stays in the cache
	w.set(user, func(u *resources.User) { u.Status = "SUSPENDED" })
	w.status()
	current := w.revisions[account]
	changes := w.changes
	w.changes = func(ctx context.Context, after int64, limit int) ([]store.AccountRevision, bool, error) {
		list, complete, err := changes(ctx, after, limit)
		return append(list, store.AccountRevision{AccountID: account, Revision: current.Revision - 1}), complete, err
	}
	w.change(other, nil)
	facts, err := w.cache.Facts(t.Context(), account, user, "")
	if err != nil || facts.Revision != current.Revision || facts.Subject.UserStatus != "SUSPENDED" {
		t.Errorf("%+v %v", facts, err)
	}
}

// TestOlderFreshnessTakesNothingBack guarantees that the cache does not return to older facts when a read reports an
// older epoch.
func TestOlderFreshnessTakesNothingBack(t *testing.T) {
	w := newWorld(t)
	w.status()
	old, _ := w.tellFreshness(t.Context())
	w.set(user, func(u *resources.User) { u.Status = "SUSPENDED" })
	w.status()
	w.freshness = func(context.Context) (store.Freshness, error) { return old, nil }
	if got := w.status(); got != "SUSPENDED" {
		t.Errorf("%s", got)
	}
}

// TestNewGenerationVoidsEverything guarantees that the cache uses no value of an older generation: after a restore the
// same revision may name other facts.
func TestNewGenerationVoidsEverything(t *testing.T) {
	w := newWorld(t)
	w.status()
	u := w.users[user]
	u.Status = "SUSPENDED"
	w.users[user] = u // at the same revision, as in a restored backup
	if got := w.status(); got != "ACTIVE" {
		t.Fatalf("%s: the test's premise, an immutable value under its key, does not hold", got)
	}
	w.generation, w.epoch = "two", 1
	if got := w.status(); got != "SUSPENDED" {
		t.Errorf("a value of before the restore: %s", got)
	}
	w.generation, w.epoch = "three", 1
	w.revisions[account] = store.AccountRevision{AccountID: account, Revision: 1}
	if got := w.status(); got != "SUSPENDED" {
		t.Errorf("after a restore of an older copy: %s", got)
	}
}

// TestIncompleteChangesForgetAllRevisions guarantees that the cache looks up an account missing from an incomplete
// list.
func TestIncompleteChangesForgetAllRevisions(t *testing.T) {
	w := newWorld(t)
	w.status()
	w.changes = func(_ context.Context, _ int64, limit int) ([]store.AccountRevision, bool, error) {
		if limit < 1 {
			t.Errorf("limit %d", limit)
		}
		return []store.AccountRevision{w.revisions[other]}, false, nil
	}
	w.set(user, func(u *resources.User) { u.Status = "SUSPENDED" })
	if got := w.status(); got != "SUSPENDED" {
		t.Errorf("%s", got)
	}
}

// TestSharedLookUpIsOfTheSameEpoch guarantees that a question after a change does not join a look-up from before it.
func TestSharedLookUpIsOfTheSameEpoch(t *testing.T) {
	w := newWorld(t)
	view, read, release := w.view, make(chan struct{}), make(chan struct{})
	var first atomic.Bool
	w.view = func(ctx context.Context, fn func(store.Tx) error) error {
		if first.CompareAndSwap(false, true) {
			old := w.snapshot()
			close(read)
			<-release
			return fn(old)
		}
		return view(ctx, fn)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = w.cache.Facts(t.Context(), account, user, "")
	}()
	await(t, read)
	w.set(user, func(u *resources.User) { u.Status = "SUSPENDED" })
	if got := w.status(); got != "SUSPENDED" { // must not join the look-up under way
		t.Errorf("%s", got)
	}
	close(release)
	await(t, done)
	if got := w.status(); got != "SUSPENDED" {
		t.Errorf("afterwards: %s", got)
	}
}

// TestQuestionsDuringChangesSeeEachThatWasAnswered guarantees that each question sees all changes answered before it,
// with many goroutines.
func TestQuestionsDuringChangesSeeEachThatWasAnswered(t *testing.T) {
	w := newWorld(t)
	var answered atomic.Int64
	answered.Store(w.revisions[account].Revision)
	stop := make(chan struct{})
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				least := answered.Load()
				facts, err := w.cache.Facts(context.Background(), account, []string{user, second}[i%2], "")
				if err != nil || facts.Revision < least {
					t.Errorf("revision %d, answered was %d: %v", facts.Revision, least, err)
					return
				}
			}
		})
	}
	for range 500 {
		w.change(account, nil)
		w.mu.Lock()
		answered.Store(w.revisions[account].Revision)
		w.mu.Unlock()
	}
	close(stop)
	wait.Wait()
}
