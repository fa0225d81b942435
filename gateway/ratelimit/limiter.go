package ratelimit

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

const (
	// sharedTimeout bounds how long a request waits for Shared.
	sharedTimeout = 50 * time.Millisecond
	// DefaultBuckets is how many buckets a limiter holds. A bucket takes about 250 bytes.
	DefaultBuckets = 100_000
)

// Shared holds the buckets that replicas share.
type Shared interface {
	// Take takes up to n tokens from the named bucket, and none if there are fewer than least. The bucket gets one
	// token in each interval and holds at most burst. It returns how many tokens it gave, and in how long the bucket is
	// full. After an error, both are unknown.
	Take(ctx context.Context, name string, interval time.Duration, burst, n, least int) (given int, full time.Duration, err error)
}

// Options are the settings of a Limiter. Now is required.
type Options struct {
	// Name keeps the shared buckets of two limiters apart.
	Name string
	// Rate is the rate of each caller.
	Rate Rate
	// Buckets is how many buckets the limiter holds; 0 is DefaultBuckets.
	Buckets int
	// Shared holds the buckets of all replicas; nil is for a single process.
	Shared Shared
	// Now is the clock.
	Now func() time.Time
}

// Verdict states whether a request is allowed, and the state of the bucket after it.
type Verdict struct {
	Allowed bool
	// Limit is how many requests are allowed at once, Remaining how many are allowed now.
	Limit, Remaining int
	// Reset is in how long Remaining is Limit again.
	Reset time.Duration
	// RetryAfter is in how long the next request is allowed; 0 if this one is.
	RetryAfter time.Duration
}

// Limiter holds each caller to a rate. It is safe for concurrent use.
type Limiter struct {
	options Options
	began   time.Time
	buckets bucketTable
}

// New returns a limiter with full buckets, and nil for the zero rate: it limits nothing.
func New(o Options) *Limiter {
	if o.Rate == (Rate{}) {
		return nil
	}
	o.Buckets = cmp.Or(o.Buckets, DefaultBuckets)
	return &Limiter{options: o, began: o.Now(), buckets: bucketTable{limit: o.Buckets, buckets: map[string]*bucket{}}}
}

// now returns the time since the limiter was made, which is the limiter's clock.
func (l *Limiter) now() time.Duration { return l.options.Now().Sub(l.began) }

// Deadline returns until when a request that arrives now may wait for Shared. All Takes of one
// request share one deadline.
func (l *Limiter) Deadline() time.Time { return l.options.Now().Add(sharedTimeout) }

// Peek returns the verdict on a request of the caller now, and takes no token.
func (l *Limiter) Peek(caller string) Verdict {
	now := l.now()
	b := l.buckets.find(caller)
	if b == nil {
		return Verdict{Allowed: true, Limit: l.options.Rate.Burst, Remaining: l.options.Rate.Burst}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.verdict(now, l.options.Rate, 1, l.options.Rate.wait(b.untilFull(now), 1) <= 0)
}

// Take takes n tokens of the caller's bucket, all or none, and waits for Shared until the deadline at
// most.
func (l *Limiter) Take(ctx context.Context, caller string, n int, deadline time.Time) Verdict {
	now := l.now()
	b := l.buckets.get(caller, now)
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		switch {
		case l.options.Rate.wait(b.untilFull(now), n) > 0:
			return b.verdict(now, l.options.Rate, n, false)
		case b.lease.tokens(now) >= n:
			b.lease.remaining -= n
			b.lease.used += n
			return l.charge(b, now, n)
		case now < b.lease.empty, b.lacks(now, l.options.Rate, n):
			return b.verdict(now, l.options.Rate, n, false)
		case l.options.Shared == nil || !l.ask(ctx, caller, b, n, n, deadline): // the own bucket alone
			return l.charge(b, l.now(), n)
		}
		now = l.now()
	}
}

// Owe takes n tokens for work that was done already, also such as the bucket does not have: it gets them before it has any
// others. Of the shared bucket it takes what is there, and waits for Shared until the deadline at most.
func (l *Limiter) Owe(ctx context.Context, caller string, n int, deadline time.Time) Verdict {
	b := l.buckets.get(caller, l.now())
	b.mu.Lock()
	defer b.mu.Unlock()
	b.charge(l.now(), l.options.Rate, n)
	if least := min(n, l.options.Rate.Burst); l.options.Shared != nil && b.lease.tokens(l.now()) < least {
		l.ask(ctx, caller, b, least, 1, deadline)
	}
	used := min(n, b.lease.tokens(l.now()))
	b.lease.remaining -= used
	b.lease.used += used
	return b.verdict(l.now(), l.options.Rate, n, true)
}

// charge takes n tokens of the own bucket, unless another request took them meanwhile.
func (l *Limiter) charge(b *bucket, now time.Duration, n int) Verdict {
	if l.options.Rate.wait(b.untilFull(now), n) > 0 {
		return b.verdict(now, l.options.Rate, n, false)
	}
	b.charge(now, l.options.Rate, n)
	return b.verdict(now, l.options.Rate, n, true)
}

// ask leases tokens of Shared for a request of need tokens, at least so many as least, or waits for a running request
// to Shared. It returns false if Shared did not answer before the deadline. b.mu is held, but not during the wait.
func (l *Limiter) ask(ctx context.Context, caller string, b *bucket, need, least int, deadline time.Time) bool {
	timeout := deadline.Sub(l.options.Now())
	if timeout <= 0 {
		return false
	}
	if answered := b.lease.asking; answered != nil {
		b.lease.waiting++
		b.mu.Unlock()
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		select {
		case <-answered:
		case <-timer.C:
		}
		b.mu.Lock()
		b.lease.waiting--
		return true // the next call sees whether the deadline has passed
	}
	n, least := b.lease.nextSize(l.now(), l.options.Rate, need), max(1, least-b.lease.tokens(l.now()))
	answered := make(chan struct{})
	b.lease.asking = answered
	b.mu.Unlock()
	given, full, err := l.shared(ctx, caller, n, least, timeout)
	b.mu.Lock()
	b.lease.asking = nil
	close(answered)
	if err != nil {
		b.lease.ok = false
		return false
	}
	b.lease.granted(l.now(), l.options.Rate, n, given, full)
	return true
}

// shared asks Shared for n tokens, or at least for so many. Other requests wait for the answer, so that it
// does not end with its caller's context.
func (l *Limiter) shared(ctx context.Context, caller string, n, least int, timeout time.Duration) (given int, full time.Duration, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("ratelimit: panic: %v", p)
		}
	}()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	return l.options.Shared.Take(ctx, l.options.Name+":"+caller, l.options.Rate.Interval, l.options.Rate.Burst, n, least)
}
