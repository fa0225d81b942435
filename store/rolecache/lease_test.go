package rolecache_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/rolecache"
)

const lease = 200 * time.Millisecond

// leased returns a world with a cache with a lease, and the clock of the synctest bubble.
func leased(t *testing.T) (w *world, reads, leases *atomic.Int64) {
	t.Helper()
	w = newWorld(t)
	reads, leases = &atomic.Int64{}, &atomic.Int64{}
	w.freshness = func(ctx context.Context) (store.Freshness, error) {
		reads.Add(1)
		return w.tellFreshness(ctx)
	}
	w.lease = func(context.Context, time.Duration) error { leases.Add(1); return nil }
	started := time.Now()
	w.cache = rolecache.New(w, records.NewCollections(), rolecache.Options{
		Entries: 1000, Lease: lease, Clock: func() time.Duration { return time.Since(started) + time.Second },
	})
	return w, reads, leases
}

// TestLeaseIsToldBeforeItIsUsed guarantees that the cache uses only barriers begun after it declared the lease to the
// store, and declares it again in each generation.
func TestLeaseIsToldBeforeItIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, reads, leases := leased(t)
		w.lease = func(_ context.Context, d time.Duration) error {
			if leases.Add(1); reads.Load() != 1 || d != lease {
				t.Errorf("declared %s after %d reads", d, reads.Load())
			}
			return nil
		}
		w.warm()
		w.warm()
		if reads.Load() != 2 || leases.Load() != 1 {
			t.Errorf("%d reads, declared %d times", reads.Load(), leases.Load())
		}
		w.lease = func(context.Context, time.Duration) error { leases.Add(1); return nil }
		w.mu.Lock()
		w.generation = "two"
		w.mu.Unlock()
		time.Sleep(lease + 1)
		w.warm()
		if leases.Load() != 2 {
			t.Errorf("declared %d times in two generations", leases.Load())
		}
	})
}

func TestLeaseThatCannotBeToldIsNotUsed(t *testing.T) {
	w, _, _ := leased(t)
	w.lease = func(context.Context, time.Duration) error { return store.ErrUnavailable }
	for range 2 {
		if _, err := w.cache.Facts(t.Context(), account, user, ""); err == nil {
			t.Error("there was an answer")
		}
	}
}

// TestLeaseCountsFromTheBeginningOfTheRead guarantees that the cache uses a read until 200 ms after it began, and not
// longer.
func TestLeaseCountsFromTheBeginningOfTheRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, reads, _ := leased(t)
		w.warm()
		slow := w.freshness
		w.freshness = func(ctx context.Context) (store.Freshness, error) {
			freshness, err := slow(ctx)
			time.Sleep(150 * time.Millisecond)
			return freshness, err
		}
		time.Sleep(lease + 1)
		w.warm() // begins a read that takes 150 ms
		before := reads.Load()
		time.Sleep(50 * time.Millisecond)
		if w.warm(); reads.Load() != before {
			t.Error("a read within the lease was not used")
		}
		time.Sleep(time.Nanosecond)
		if w.warm(); reads.Load() != before+1 {
			t.Error("a read was used 200 ms after it began")
		}
	})
}

func TestStrictRequestUsesNoLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, reads, _ := leased(t)
		w.warm()
		before := reads.Load()
		w.set(user, func(u *resources.User) { u.Status = "SUSPENDED" })
		if facts, err := w.cache.Facts(t.Context(), account, user, ""); err != nil || facts.Subject.UserStatus != "ACTIVE" {
			t.Errorf("within the lease: %+v, %v", facts.Subject, err)
		}
		facts, err := w.cache.Facts(resources.WithStrict(t.Context()), account, user, "")
		if err != nil || facts.Subject.UserStatus != "SUSPENDED" || reads.Load() != before+1 {
			t.Errorf("strict: %+v, %v, %d reads", facts.Subject, err, reads.Load()-before)
		}
	})
}

// TestRunReadsAhead guarantees that requests make no barriers while Run makes them, and see a change within the lease.
func TestRunReadsAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, _ := leased(t)
		byRequest := atomic.Int64{}
		ahead := w.freshness
		var asking atomic.Bool
		w.freshness = func(ctx context.Context) (store.Freshness, error) {
			if asking.Load() {
				byRequest.Add(1)
			}
			return ahead(ctx)
		}
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { w.cache.Run(ctx) })
		synctest.Wait()
		w.warm()
		for range 20 {
			time.Sleep(lease / 3)
			synctest.Wait()
			asking.Store(true)
			w.warm()
			asking.Store(false)
		}
		if byRequest.Load() != 0 {
			t.Errorf("requests read %d times", byRequest.Load())
		}
		w.set(user, func(u *resources.User) { u.Status = "SUSPENDED" })
		time.Sleep(lease + 1)
		synctest.Wait()
		if facts, err := w.cache.Facts(t.Context(), account, user, ""); err != nil || facts.Subject.UserStatus != "SUSPENDED" {
			t.Errorf("after the lease: %+v, %v", facts.Subject, err)
		}
		stop()
		running.Wait()
	})
}
