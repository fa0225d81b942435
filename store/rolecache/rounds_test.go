package rolecache_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// TestWhoComesDuringAReadWaitsForTheNext guarantees that a request never uses a read begun before it. All requests
// during a read share the next one.
func TestWhoComesDuringAReadWaitsForTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.warm()
		var reads atomic.Int64
		release := make(chan struct{})
		w.freshness = func(ctx context.Context) (store.Freshness, error) {
			now, err := w.tellFreshness(ctx)
			if reads.Add(1) == 1 {
				<-release // the read is done, and answers late
			}
			return now, err
		}
		var asked sync.WaitGroup
		asked.Go(func() { _, _ = w.cache.Facts(t.Context(), account, user, "") })
		synctest.Wait()
		w.set(user, func(u *resources.User) { u.Status = "SUSPENDED" })
		for range 50 {
			asked.Go(func() {
				facts, err := w.cache.Facts(t.Context(), account, user, "")
				if err != nil || facts.Subject.UserStatus != "SUSPENDED" {
					t.Errorf("%+v, %v", facts.Subject, err)
				}
			})
		}
		synctest.Wait()
		close(release)
		asked.Wait()
		if n := reads.Load(); n != 2 {
			t.Errorf("%d reads for 51 requests, want 2", n)
		}
	})
}

// TestRoundsKeepNothingOfEachOther guarantees that the context of a read is not made from those of all reads before it:
// while requests always wait for the next read, it would grow without end.
func TestRoundsKeepNothingOfEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.warm()
		var layers []int
		turn := make(chan struct{})
		w.freshness = func(ctx context.Context) (store.Freshness, error) {
			layers = append(layers, strings.Count(fmt.Sprint(ctx), ".With"))
			<-turn
			return w.tellFreshness(ctx)
		}
		const rounds = 10
		var asked sync.WaitGroup
		for range rounds {
			asked.Go(w.warm)
			synctest.Wait()
			asked.Go(w.warm) // for the round after the one under way
			synctest.Wait()
			turn <- struct{}{}
			synctest.Wait()
		}
		turn <- struct{}{}
		asked.Wait()
		if len(layers) != rounds+1 || layers[rounds] != layers[1] {
			t.Errorf("layers of the reads' contexts: %d", layers)
		}
	})
}

// TestRoundThatFailsFailsForAll guarantees that a failed read fails all its requests, and no later one.
func TestRoundThatFailsFailsForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.warm()
		var reads atomic.Int64
		release := make(chan struct{})
		w.freshness = func(ctx context.Context) (store.Freshness, error) {
			switch reads.Add(1) {
			case 1:
				<-release
			case 2:
				return store.Freshness{}, errors.New("gone")
			case 3:
				panic("broken")
			}
			return w.tellFreshness(ctx)
		}
		ask := func(want bool) {
			if _, err := w.cache.Facts(t.Context(), account, user, ""); (err == nil) != want {
				t.Errorf("got %v", err)
			}
		}
		var asked sync.WaitGroup
		asked.Go(func() { ask(true) })
		synctest.Wait()
		for range 3 {
			asked.Go(func() { ask(false) })
		}
		synctest.Wait()
		close(release)
		asked.Wait()
		func() {
			defer func() { _ = recover() }()
			ask(false)
		}()
		ask(true)
	})
}

// TestEpochThatWentBackForgetsEverything guarantees that the cache uses no revision of before when the store's epoch
// falls: the store has lost changes.
func TestEpochThatWentBackForgetsEverything(t *testing.T) {
	w := newWorld(t)
	w.set(user, func(u *resources.User) { u.Status = "ACTIVE" })
	w.warm()
	w.mu.Lock()
	r := w.revisions[account]
	r.Revision--
	w.revisions[account], w.epoch = r, w.epoch-1
	u := w.users[user]
	u.Status = "SUSPENDED"
	w.users[user] = u
	w.mu.Unlock()
	facts, err := w.cache.Facts(t.Context(), account, user, "")
	if err != nil || facts.Subject.UserStatus != "SUSPENDED" || facts.Revision != r.Revision {
		t.Errorf("%+v, %v", facts, err)
	}
}
