package ratelimit

import (
	"sync"
	"sync/atomic"
	"time"
)

// bucket is the bucket of one caller: the process's own, and the tokens leased of the shared one.
type bucket struct {
	// full is when the own bucket is full again, on the limiter's clock. Writes hold mu.
	full atomic.Int64

	mu    sync.Mutex
	lease lease
}

// untilFull returns how long until the own bucket is full.
func (b *bucket) untilFull(now time.Duration) time.Duration {
	return max(0, time.Duration(b.full.Load())-now)
}

// charge takes n tokens of the own bucket, which has them. mu is held.
func (b *bucket) charge(now time.Duration, r Rate, n int) {
	b.full.Store(int64(now + b.untilFull(now) + time.Duration(n)*r.Interval))
}

// lacks reports whether the shared bucket is known not to have n tokens. Of one token it is asked. mu is
// held.
func (b *bucket) lacks(now time.Duration, r Rate, n int) bool {
	return n > 1 && b.lease.ok && r.wait(max(0, b.lease.full-now), n-b.lease.tokens(now)) > 0
}

// verdict returns the state of the bucket for a request of n tokens. mu is held.
func (b *bucket) verdict(now time.Duration, r Rate, n int, allowed bool) Verdict {
	full, remaining := b.untilFull(now), r.available(b.untilFull(now))
	if b.lease.ok { // the shared bucket has as many tokens or fewer
		shared := max(0, b.lease.full-now)
		full, remaining = max(full, shared), min(remaining, r.available(shared)+b.lease.tokens(now))
	}
	v := Verdict{Allowed: allowed, Limit: r.Burst, Remaining: remaining, Reset: full}
	if !allowed {
		v.Remaining = 0
		v.RetryAfter = max(r.wait(b.untilFull(now), n), b.lease.empty-now, 0)
		if b.lacks(now, r, n) {
			v.RetryAfter = max(v.RetryAfter, r.wait(max(0, b.lease.full-now), n))
		}
	}
	return v
}

// leaseTime is how long leased tokens may be used.
const leaseTime = time.Second

// lease holds the tokens leased from the shared bucket in advance, and the last known state of this bucket. Times are
// on the limiter's clock.
type lease struct {
	remaining int           // tokens that are not used yet
	until     time.Duration // when they are void
	size      int           // tokens that were asked for; 0 before the first lease
	used      int           // tokens of this lease that were used

	ok    bool          // full is known
	full  time.Duration // when the shared bucket is full again
	empty time.Duration // until when the shared bucket has no token

	asking  chan struct{} // closed when the running request to Shared has returned; nil without one
	waiting int           // requests that wait for it
}

// tokens returns how many leased tokens may be used now.
func (l *lease) tokens(now time.Duration) int {
	if now >= l.until {
		return 0
	}
	return l.remaining
}

// nextSize returns how many tokens to lease: twice the size of a lease that was used up in its
// time, or as many as were used of it, and what a request of n tokens lacks at least.
func (l *lease) nextSize(now time.Duration, r Rate, n int) int {
	size := max(1, l.used)
	if l.remaining == 0 && now < l.until {
		size = max(1, 2*l.size)
	}
	return min(max(min(size, r.maxLease()), n-l.tokens(now)+l.waiting), r.Burst)
}

// granted records the answer of Shared: the tokens that it gave, and in how long the shared
// bucket is full.
func (l *lease) granted(now time.Duration, r Rate, asked, given int, full time.Duration) {
	l.remaining, l.until, l.size, l.used = l.tokens(now)+given, now+leaseTime, asked, 0
	full = min(max(full, 0), r.fill()) // bounds a wrong answer
	l.full, l.ok = now+full, true
	if given <= 0 {
		l.empty = now + max(r.wait(full, 1), 0)
	}
}
