package ratelimit

import (
	"sync"
	"sync/atomic"
	"time"
)

// bucket is one caller's: the process's own, and what is in hand of the shared one.
type bucket struct {
	// full is when the own bucket is full again, on the limiter's clock. It is written with
	// the lock held.
	full atomic.Int64

	mu    sync.Mutex
	lease lease
}

// own is how long until the own bucket is full.
func (b *bucket) own(now time.Duration) time.Duration {
	return max(0, time.Duration(b.full.Load())-now)
}

// charge takes a token of the own bucket. The lock is held, and there is one.
func (b *bucket) charge(now time.Duration, r Rate) {
	b.full.Store(int64(now + b.own(now) + r.Interval))
}

// verdict is how the bucket stands. The lock is held.
func (b *bucket) verdict(now time.Duration, r Rate, allowed bool) Verdict {
	full, left := b.own(now), r.left(b.own(now))
	if b.lease.known { // the shared bucket holds as much or less
		shared := max(0, b.lease.full-now)
		full, left = max(full, shared), min(left, r.left(shared)+b.lease.tokens(now))
	}
	v := Verdict{Allowed: allowed, Limit: r.Burst, Remaining: left, Reset: full}
	if !allowed {
		v.Remaining = 0
		v.RetryAfter = max(r.wait(b.own(now)), b.lease.empty-now, 0)
	}
	return v
}

// leaseTime is how long tokens that were taken in advance may be used.
const leaseTime = time.Second

// lease is what is in hand of the shared bucket.
type lease struct {
	left  int
	until time.Duration // when what is left is void
	size  int           // what was asked for, 0 before the first
	used  int
	// empty is until when the shared bucket is known to have no token.
	empty time.Duration
	// full is when the shared bucket is full again, as far as known.
	full  time.Duration
	known bool
	// asking is closed when the question under way has its answer; waiting are those who
	// wait for it.
	asking  chan struct{}
	waiting int
}

// tokens are those in hand.
func (l *lease) tokens(now time.Duration) int {
	if now >= l.until {
		return 0
	}
	return l.left
}

// next is how many to ask for: twice what was used up in its time, or what was used of it.
func (l *lease) next(now time.Duration, r Rate) int {
	n := max(1, l.used)
	if l.left == 0 && now < l.until {
		n = max(1, 2*l.size)
	}
	return min(max(min(n, r.ahead()), 1+l.waiting), r.Burst)
}

// granted takes the answer over: so many tokens, and when the shared bucket is full.
func (l *lease) granted(now time.Duration, r Rate, asked, given int, full time.Duration) {
	l.left, l.until, l.size, l.used = given, now+leaseTime, asked, 0
	full = min(max(full, 0), r.fill()) // whatever was answered
	l.full, l.known = now+full, true
	if given <= 0 {
		l.empty = now + max(r.wait(full), 0)
	}
}
