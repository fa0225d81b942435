package idempotency_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/test/must"
)

// stored returns the body of every stored response.
func (w *keeperWorld) stored(show func(body string)) {
	w.t.Helper()
	ctx := w.t.Context()
	must.Do(w.t, w.store.View(ctx, func(tx store.Tx) error {
		recs, err := w.c.Answers.Find(ctx, tx, store.Query{Index: records.ByExpiry})
		for _, rec := range recs {
			show(rec.Value.Body)
		}
		return err
	}))
}

// TestFailureIsNotStored checks failures of reading and of the commit, whose change is rolled back.
func TestFailureIsNotStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.refused(plain("k", "bad"), resources.KindBadRequest)
	w.fails = resources.Conflict("not now")
	w.refused(plain("k", "a"), resources.KindConflict)
	w.fails = errBroken
	w.refused(plain("k", "a"), resources.KindInternal)
	w.count(0, 0)
	w.fails = nil
	w.must(plain("k", "b")) // another request: nothing is bound yet
	w.count(1, 1)
}

// TestAnswerHoldsForADay guarantees it, and that another request can use the key after it.
func TestAnswerHoldsForADay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.must(plain("k", "a"))
	w.pass(day - time.Millisecond)
	if again := w.must(plain("k", "a")); again != first {
		t.Errorf("just before a day is over: %s", again)
	}
	w.pass(time.Millisecond)
	if next := w.must(plain("k", "b")); next == first {
		t.Errorf("after a day: %s", next)
	}
	w.count(2, 1)
}

// TestExpiredAnswersAreRemoved checks that each new response removes some expired ones and no others.
func TestExpiredAnswersAreRemoved(t *testing.T) {
	t.Parallel()
	const old, sweep = 20, 16
	w := newWorld(t)
	for i := range old {
		w.must(plain(fmt.Sprint("old", i), "a"))
	}
	w.pass(day / 2)
	w.must(plain("holds", "a"))
	w.count(old+1, old+1)
	w.pass(day / 2)
	w.must(plain("new", "a"))
	w.count(old+2, old+2-sweep)
	w.must(plain("newer", "a"))
	w.count(old+3, 3)
}

// TestSecondOneIsRefusedWhileTheFirstRuns checks that a repeat is answered once the first request has
// ended.
func TestSecondOneIsRefusedWhileTheFirstRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	begun, end := make(chan struct{}), make(chan struct{})
	w.during = func() { close(begun); <-end }
	var first string
	var wait sync.WaitGroup
	wait.Go(func() { first = w.must(plain("k", "a")) })
	<-begun
	for _, body := range []string{"a", "b"} {
		if message := w.refused(plain("k", body), resources.KindConflict); !strings.Contains(message, "still running") {
			t.Errorf("%q", message)
		}
	}
	close(end)
	wait.Wait()
	if again := w.must(plain("k", "a")); again != first {
		t.Errorf("%s, the first was %s", again, first)
	}
	w.count(1, 1)
}

// TestKeyIsFreeAfterAPanic guarantees that a panic in a commit does not count as running.
func TestKeyIsFreeAfterAPanic(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.during = func() { panic("in the commit") }
	func() {
		defer func() { _ = recover() }()
		w.must(plain("k", "a"))
	}()
	w.during = nil
	w.must(plain("k", "a"))
	w.count(1, 1)
}

// again is a store whose transactions run twice, as after a conflict.
type again struct{ store.Store }

func (s again) Transact(ctx context.Context, fn func(store.Tx) error) error {
	_ = s.Store.Transact(ctx, func(tx store.Tx) error {
		_ = fn(tx)
		return errBroken
	})
	return s.Store.Transact(ctx, fn)
}

// TestAnswerIsOfTheRunThatWasCommitted guarantees that a rolled back run's response is not stored.
func TestAnswerIsOfTheRunThatWasCommitted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.use(again{w.store})
	first := w.must(plain("k", "a"))
	if repeat := w.must(plain("k", "a")); repeat != first || w.made.Load() != 2 {
		t.Errorf("%s, the first was %s; %d runs", repeat, first, w.made.Load())
	}
	w.stored(func(body string) {
		if body != first {
			t.Errorf("kept %s, answered %s", body, first)
		}
	})
	w.count(1, 1)
}

// TestReplicasMakeItOnce checks that another process replays the stored response.
func TestReplicasMakeItOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := w.make
	w.use(w.store) // another keeper
	var wait sync.WaitGroup
	for i := range 20 {
		key := fmt.Sprint("k", i)
		for _, handler := range []func(){func() { _, _ = one(t.Context(), plain(key, "a")) }, func() { _, _ = w.make(t.Context(), plain(key, "a")) }} {
			wait.Go(handler)
		}
	}
	wait.Wait()
	w.count(20, 20)
}
