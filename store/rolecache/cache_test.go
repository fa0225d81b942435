package rolecache_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/rolecache"
	"github.com/portcullis-authz/portcullis/test/must"
)

var errBroken = errors.New("broken")

// counted returns a counter of all later views.
func (w *world) counted() *atomic.Int64 {
	n, view := &atomic.Int64{}, w.view
	w.view = func(ctx context.Context, fn func(store.Tx) error) error { n.Add(1); return view(ctx, fn) }
	return n
}

func TestWarmQuestionReadsFreshnessOnly(t *testing.T) {
	w := newWorld(t)
	for _, project := range []string{"", "proj-p-v1", "proj-absent-v1"} {
		want := map[string]string{"": "", "proj-p-v1": "active", "proj-absent-v1": "absent"}[project]
		for range 2 {
			facts, err := w.cache.Facts(t.Context(), account, user, project)
			if err != nil || facts.ProjectState != want || facts.Subject.UserID != user || facts.Revision != w.revisions[account].Revision {
				t.Fatalf("%+v %v", facts, err)
			}
		}
	}
	views := w.counted()
	for range 10 {
		w.status()
	}
	if views.Load() != 0 {
		t.Errorf("%d reads", views.Load())
	}
}

func TestChangeIsSeenByTheNextQuestion(t *testing.T) {
	w := newWorld(t)
	for _, status := range []string{"SUSPENDED", "ACTIVE", "INACTIVE"} {
		w.set(user, func(u *resources.User) { u.Status = status })
		if got := w.status(); got != status {
			t.Errorf("%s, want %s", got, status)
		}
	}
	views := w.counted()
	w.change(other, nil)
	w.status()
	if views.Load() != 0 {
		t.Errorf("a change in another account cost %d reads", views.Load())
	}
}

// TestWhatCannotBeKnownIsAnError guarantees that a question fails if any of its reads fails, also with a cached value.
// The cache does not remember the failure.
func TestWhatCannotBeKnownIsAnError(t *testing.T) {
	for name, spoil := range map[string]func(w *world){
		"freshness": func(w *world) {
			w.freshness = func(context.Context) (store.Freshness, error) { return store.Freshness{}, errBroken }
		},
		"changes": func(w *world) {
			w.change(other, nil)
			w.changes = func(context.Context, int64, int) ([]store.AccountRevision, bool, error) { return nil, false, errBroken }
		},
		"view": func(w *world) {
			w.change(account, nil)
			w.view = func(context.Context, func(store.Tx) error) error { return errBroken }
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.status()
			good := w.engine
			spoil(w)
			for range 2 {
				facts, err := w.cache.Facts(t.Context(), account, user, "")
				if err == nil || facts.Subject != nil {
					t.Errorf("%+v %v", facts, err)
				}
				if _, exists, err := w.cache.Identify(t.Context(), user, true, true); exists || err == nil {
					t.Errorf("identified: %t %v", exists, err)
				}
			}
			w.engine = good
			if got := w.status(); got != "ACTIVE" {
				t.Errorf("afterwards: %s", got)
			}
		})
	}
}

// TestPanicInAReadIsAnError guarantees that a panic in a read is an error of the question, and does not end the
// process.
func TestPanicInAReadIsAnError(t *testing.T) {
	for name, reads := range map[string]int64{"look-up": 0, "fill": 1} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.changes = noList
			view, n := w.view, w.counted()
			count := w.view
			w.view = func(ctx context.Context, fn func(store.Tx) error) error {
				if n.Load() == reads {
					panic("no such thing")
				}
				return count(ctx, fn)
			}
			if _, err := w.cache.Facts(t.Context(), account, user, ""); err == nil || !strings.Contains(err.Error(), "no such thing") {
				t.Errorf("%v", err)
			}
			w.view = view
			if got := w.status(); got != "ACTIVE" {
				t.Errorf("afterwards: %s", got)
			}
		})
	}
}

// TestSnapshotOlderThanItsRevisionIsRefused guarantees an error if an engine breaks its contract: its snapshot is older
// than the revision.
func TestSnapshotOlderThanItsRevisionIsRefused(t *testing.T) {
	w := newWorld(t)
	w.status()
	old := w.snapshot()
	w.set(user, func(u *resources.User) { u.Status = "SUSPENDED" })
	w.view = func(_ context.Context, fn func(store.Tx) error) error { return fn(old) }
	if _, err := w.cache.Facts(t.Context(), account, user, ""); err == nil || !strings.Contains(err.Error(), "older") {
		t.Errorf("%v", err)
	}
}

// TestNewerSnapshotIsKeptUnderItsOwnRevision guarantees that the cache names a value by the revision of its snapshot.
// It may be newer than the question's.
func TestNewerSnapshotIsKeptUnderItsOwnRevision(t *testing.T) {
	w := newWorld(t)
	w.status()
	w.change(account, nil)
	view := w.view
	w.view = func(ctx context.Context, fn func(store.Tx) error) error {
		w.view = view
		w.set(user, func(u *resources.User) { u.Status = "SUSPENDED" }) // after the question read the revision
		return view(ctx, fn)
	}
	asked := w.revisions[account].Revision
	facts, err := w.cache.Facts(t.Context(), account, user, "")
	if err != nil || facts.Revision != asked+1 || facts.Subject.UserStatus != "SUSPENDED" {
		t.Fatalf("%+v %v", facts, err)
	}
	views := w.counted()
	if got := w.status(); got != "SUSPENDED" || views.Load() != 0 {
		t.Errorf("%s after %d reads", got, views.Load())
	}
}

// TestColdQuestionsAreOneFill guarantees that a thousand concurrent questions about one user cost one fill, and one
// look-up of the revision if the account is not on the list.
func TestColdQuestionsAreOneFill(t *testing.T) {
	for name, c := range map[string]struct {
		listed bool
		reads  int64
	}{"account on the list": {true, 1}, "not on the list": {false, 2}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if !c.listed {
				w.changes = noList
			}
			views := w.counted()
			begin := make(chan struct{})
			var wait sync.WaitGroup
			for range 1000 {
				wait.Go(func() {
					<-begin
					if facts, err := w.cache.Facts(context.Background(), account, user, "proj-p-v1"); err != nil || facts.Subject.UserStatus != "ACTIVE" {
						t.Errorf("%+v %v", facts, err)
					}
				})
			}
			close(begin)
			wait.Wait()
			if n := views.Load(); n != c.reads {
				t.Errorf("%d reads of the store, want %d", n, c.reads)
			}
		})
	}
}

// TestListThatCannotBeHadAtStartIsDoneWithout guarantees that a new cache answers without the list of changes: it looks
// up each account.
func TestListThatCannotBeHadAtStartIsDoneWithout(t *testing.T) {
	w := newWorld(t)
	w.changes = func(context.Context, int64, int) ([]store.AccountRevision, bool, error) {
		return nil, false, store.ErrUnavailable
	}
	if got := w.status(); got != "ACTIVE" {
		t.Error(got)
	}
}

// TestCallerWhoGoesAwayLeavesTheOthersTheirAnswer guarantees that a shared read outlives its first caller, and has a
// deadline.
func TestCallerWhoGoesAwayLeavesTheOthersTheirAnswer(t *testing.T) {
	w := newWorld(t)
	w.status()
	w.change(account, nil)
	view, entered, release := w.view, make(chan context.Context, 1), make(chan struct{})
	w.view = func(ctx context.Context, fn func(store.Tx) error) error {
		entered <- ctx
		<-release
		return view(ctx, fn)
	}
	gone, leave := context.WithCancel(t.Context())
	first, joined := make(chan error, 1), make(chan error, 10)
	go func() {
		_, err := w.cache.Facts(gone, account, user, "")
		first <- err
	}()
	flight := <-entered
	for range cap(joined) {
		go func() {
			_, err := w.cache.Facts(t.Context(), account, user, "")
			joined <- err
		}()
	}
	leave()
	if err := <-first; !errors.Is(err, store.ErrUnavailable) || !errors.Is(err, context.Canceled) {
		t.Errorf("the caller who went away: %v", err)
	}
	if flight.Err() != nil {
		t.Errorf("the flight ended with its first caller: %v", flight.Err())
	}
	if _, bounded := flight.Deadline(); !bounded {
		t.Error("the flight has no end")
	}
	close(release)
	for range cap(joined) {
		if err := <-joined; err != nil {
			t.Error(err)
		}
	}
}

// TestCachedFactsAreBounded guarantees that the cache holds at most Options.Entries users, a multiple of eight here.
func TestCachedFactsAreBounded(t *testing.T) {
	const users, few, many = 20, 8, 128
	for _, room := range []int{few, many} {
		w := newWorld(t)
		for i := range users {
			w.set(fmt.Sprintf("user-%d", i), func(u *resources.User) { u.AccountID, u.Status = account, "ACTIVE" })
		}
		w.cache = rolecache.New(w, records.NewCollections(), rolecache.Options{Entries: room})
		round := func() {
			for i := range users {
				must.Get(w.cache.Facts(t.Context(), account, fmt.Sprintf("user-%d", i), ""))(t)
			}
		}
		round()
		views := w.counted()
		round()
		if hits := users - int(views.Load()); hits > room || room > users && hits < users {
			t.Errorf("%d of %d users were cached in room for %d", hits, users, room)
		}
	}
}
