package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/ratelimit"
	"github.com/portcullis-authz/portcullis/test/must"
)

// limiter returns a limiter of the rate, on the clock of the test's bubble.
func limiter(t *testing.T, rate string, shared ratelimit.Shared, buckets int) *ratelimit.Limiter {
	t.Helper()
	r := must.Get(ratelimit.ParseRate(rate))(t)
	return ratelimit.New(ratelimit.Options{Name: "test", Rate: r, Shared: shared, Buckets: buckets, Now: time.Now})
}

func take(l *ratelimit.Limiter, caller string) ratelimit.Verdict {
	return l.Take(context.Background(), caller, 1, l.Deadline())
}

// through returns how many of n requests at once are allowed.
func through(l *ratelimit.Limiter, caller string, n int) (allowed int) {
	for range n {
		if take(l, caller).Allowed {
			allowed++
		}
	}
	return allowed
}

// TestBurstThenRate guarantees a burst at once, and then one request in each interval.
func TestBurstThenRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limiter(t, "10/s,5", nil, 0)
		if n := through(l, "a", 20); n != 5 {
			t.Errorf("%d at once, want 5", n)
		}
		if n := through(l, "b", 20); n != 5 {
			t.Errorf("%d of another caller, want 5", n)
		}
		time.Sleep(99 * time.Millisecond)
		if n := through(l, "a", 5); n != 0 {
			t.Errorf("%d before the interval is over", n)
		}
		time.Sleep(time.Millisecond)
		if n := through(l, "a", 5); n != 1 {
			t.Errorf("%d after an interval, want 1", n)
		}
		time.Sleep(time.Hour)
		if n := through(l, "a", 20); n != 5 {
			t.Errorf("%d after an hour, want 5", n)
		}
	})
}

func TestVerdictStatesTheBucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limiter(t, "10/s,2", nil, 0)
		for i, want := range []ratelimit.Verdict{
			{Allowed: true, Limit: 2, Remaining: 1, Reset: 100 * time.Millisecond},
			{Allowed: true, Limit: 2, Remaining: 0, Reset: 200 * time.Millisecond},
			{Limit: 2, Reset: 200 * time.Millisecond, RetryAfter: 100 * time.Millisecond},
		} {
			if got := take(l, "a"); got != want {
				t.Errorf("request %d: %+v, want %+v", i+1, got, want)
			}
		}
		if got, want := l.Peek("a"), take(l, "a"); got != want {
			t.Errorf("Peek returns %+v, Take %+v", got, want)
		}
		if got := l.Peek("unknown"); !got.Allowed || got.Remaining != 2 {
			t.Errorf("Peek at an unknown caller: %+v", got)
		}
	})
}

func TestPeekTakesNoToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limiter(t, "1/s", nil, 0)
		take(l, "a")
		time.Sleep(time.Second)
		for range 3 {
			if !l.Peek("a").Allowed {
				t.Fatal("Peek took the token")
			}
		}
		if !take(l, "a").Allowed || l.Peek("a").Allowed {
			t.Error("Peek does not see a Take")
		}
	})
}

// TestEvictionRefillsNoBucket guarantees that a caller with an empty bucket gets no full one while
// a hundred times as many other callers as there are buckets send one request each.
func TestEvictionRefillsNoBucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limiter(t, "1/h,10", nil, 100)
		through(l, "greedy", 10)
		for i := range 10_000 {
			if !take(l, fmt.Sprint("other ", i)).Allowed {
				t.Fatal("a new caller is refused")
			}
			if i%100 == 0 && take(l, "greedy").Allowed {
				t.Fatalf("after %d other callers the bucket is full", i)
			}
		}
	})
}

// world is an exact Shared that counts its calls.
type world struct {
	mu    sync.Mutex
	full  map[string]time.Time
	asked int
	most  int // tokens asked for in one call
	err   error
	delay time.Duration
}

func (w *world) Take(ctx context.Context, name string, interval time.Duration, burst, n, least int) (int, time.Duration, error) {
	if w.delay > 0 {
		select {
		case <-time.After(w.delay):
		case <-ctx.Done():
			return 0, 0, ctx.Err()
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	w.most = max(w.most, n)
	if w.err != nil {
		return 0, 0, w.err
	}
	if w.full == nil {
		w.full = map[string]time.Time{}
	}
	now := time.Now()
	full := w.full[name]
	if full.Before(now) {
		full = now
	}
	given := min(n, int((interval*time.Duration(burst)-full.Sub(now))/interval))
	if given < least {
		given = 0
	}
	full = full.Add(interval * time.Duration(given))
	w.full[name] = full
	return given, full.Sub(now), nil
}

// TestReplicasShareARate guarantees that three replicas together allow one burst, and then the rate.
func TestReplicasShareARate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		var all []*ratelimit.Limiter
		for range 3 {
			all = append(all, limiter(t, "10/s", w, 0))
		}
		count := func(n int) (allowed int) {
			for i := range n {
				allowed += through(all[i%3], "a", 1)
			}
			return allowed
		}
		if n := count(60); n != 10 {
			t.Errorf("%d at once, want 10", n)
		}
		total := 0
		for range 100 {
			time.Sleep(100 * time.Millisecond)
			total += count(30)
		}
		if total < 90 || total > 103 {
			t.Errorf("%d in ten seconds, want 100 and at most the tokens that each has leased", total)
		}
	})
}

// TestFewRequestsAskForTokens guarantees one call of Shared for many requests of a busy caller. An idle replica leases
// no unused tokens.
func TestFewRequestsAskForTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		busy := limiter(t, "1000/s", w, 0)
		allowed := 0
		for range 5000 {
			time.Sleep(2 * time.Millisecond)
			allowed += through(busy, "a", 1)
		}
		if allowed != 5000 || w.asked > 200 || w.most > 100 {
			t.Errorf("%d of 5000 allowed with %d calls of Shared, of which one asked for %d tokens", allowed, w.asked, w.most)
		}
		many := make([]*ratelimit.Limiter, 20)
		for i := range many {
			many[i] = limiter(t, "100/s", w, 0)
		}
		for range 200 { // 40 a second, of 100
			for _, l := range many {
				if !take(l, "b").Allowed {
					t.Fatal("a caller far below the rate is refused")
				}
			}
			time.Sleep(500 * time.Millisecond)
		}
	})
}

// TestWithoutSharedEachHasTheWholeRate guarantees that an error, a timeout and a panic of Shared
// cost 50 ms at most, and leave the process's own bucket in force.
func TestWithoutSharedEachHasTheWholeRate(t *testing.T) {
	for name, shared := range map[string]ratelimit.Shared{
		"error": &world{err: errors.New("down")}, "hangs": &world{delay: time.Hour}, "slow": &world{delay: 45 * time.Millisecond},
		"panics": panics{}, "gives more than was asked for": generous{}, "says it is empty for ever": stingy{},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := limiter(t, "1/m,10", shared, 0)
				allowed := 0
				for range 20 {
					began := time.Now()
					if take(l, "a").Allowed {
						allowed++
					}
					if took := time.Since(began); took > 50*time.Millisecond {
						t.Errorf("a request took %s", took)
					}
				}
				if want := map[bool]int{true: 0, false: 10}[name == "says it is empty for ever"]; allowed != want {
					t.Errorf("%d allowed, want %d", allowed, want)
				}
				if time.Sleep(10 * time.Minute); name == "says it is empty for ever" {
					if v := take(l, "a"); v.RetryAfter > 10*time.Minute {
						t.Errorf("the answer counts for longer than a bucket takes to fill: %+v", v)
					}
				}
			})
		})
	}
}

type panics struct{}

func (panics) Take(context.Context, string, time.Duration, int, int, int) (int, time.Duration, error) {
	panic("a test")
}

type generous struct{}

func (generous) Take(context.Context, string, time.Duration, int, int, int) (int, time.Duration, error) {
	return 1_000_000, -time.Hour, nil
}

type stingy struct{}

func (stingy) Take(context.Context, string, time.Duration, int, int, int) (int, time.Duration, error) {
	return 0, 1000 * time.Hour, nil
}

// TestWaitingRequestsShareOneCall guarantees that a hundred requests at once cost two calls of
// Shared, and one timeout.
func TestWaitingRequestsShareOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, w := range map[string]*world{"answers": {delay: 5 * time.Millisecond}, "hangs": {delay: time.Hour}} {
			l := limiter(t, "1000/s", w, 0)
			began := time.Now()
			var all sync.WaitGroup
			var mu sync.Mutex
			allowed := 0
			for range 100 {
				all.Go(func() {
					v := take(l, "a")
					mu.Lock()
					defer mu.Unlock()
					if v.Allowed {
						allowed++
					}
				})
			}
			all.Wait()
			if took := time.Since(began); took > 50*time.Millisecond || allowed != 100 || w.asked > 2 {
				t.Errorf("%s: %d of 100 after %s with %d calls", name, allowed, took, w.asked)
			}
		}
	})
}

// TestRefusedCallerCostsNoCall guarantees that a limiter does not call Shared for a caller with a known empty bucket.
func TestRefusedCallerCostsNoCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		first, second := limiter(t, "1/m,5", w, 0), limiter(t, "1/m,5", w, 0)
		through(first, "a", 5)
		through(second, "a", 1)
		asked := w.asked
		if through(first, "a", 1000)+through(second, "a", 1000) != 0 || w.asked != asked {
			t.Errorf("%d calls for refused callers", w.asked-asked)
		}
		if v := take(second, "a"); v.RetryAfter != time.Minute || v.Remaining != 0 {
			t.Errorf("%+v", v)
		}
	})
}
