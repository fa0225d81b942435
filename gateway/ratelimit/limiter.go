package ratelimit

import (
	"context"
	"fmt"
	"time"
)

const (
	// sharedTime is how long a request waits for Shared at most.
	sharedTime = 50 * time.Millisecond
	// DefaultBuckets is how many callers are known at once; one takes about 250 bytes.
	DefaultBuckets = 100_000
)

// Shared are buckets that replicas have in common.
type Shared interface {
	// Take takes up to n tokens out of the bucket of that name, which gets one in each
	// interval and holds burst. It says how many it gave and in how long the bucket is
	// full. An error means that nothing is known.
	Take(ctx context.Context, name string, interval time.Duration, burst, n int) (given int, full time.Duration, err error)
}

// Options are what a Limiter is made of.
type Options struct {
	// Name keeps the buckets of two limiters apart where they are shared.
	Name string
	Rate Rate
	// Buckets is how many callers are known at once; zero is DefaultBuckets.
	Buckets int
	// Shared is nil where there is one process.
	Shared Shared
	Now    func() time.Time
}

// Verdict says whether a request may be made, and how the bucket stands after it.
type Verdict struct {
	Allowed bool
	// Limit is how many requests may be made at once, Remaining how many now.
	Limit, Remaining int
	// Reset is in how long Remaining is Limit again.
	Reset time.Duration
	// RetryAfter is in how long the next request may be made; zero where this one may.
	RetryAfter time.Duration
}

// Limiter holds callers to a rate. It is safe for concurrent use.
type Limiter struct {
	o       Options
	began   time.Time
	buckets table
}

// New makes a limiter in which all buckets are full; nil, which bounds nothing, for no rate.
func New(o Options) *Limiter {
	if o.Rate == (Rate{}) {
		return nil
	}
	if o.Buckets == 0 {
		o.Buckets = DefaultBuckets
	}
	return &Limiter{o: o, began: o.Now(), buckets: table{most: o.Buckets, buckets: map[string]*bucket{}}}
}

func (l *Limiter) now() time.Duration { return l.o.Now().Sub(l.began) }

// Until is by when a Take that begins now has asked Shared; several of one request have
// one such time.
func (l *Limiter) Until() time.Time { return l.o.Now().Add(sharedTime) }

// Look says whether the caller may make a request, and takes no token.
func (l *Limiter) Look(caller string) Verdict {
	now := l.now()
	b := l.buckets.find(caller)
	if b == nil {
		return Verdict{Allowed: true, Limit: l.o.Rate.Burst, Remaining: l.o.Rate.Burst}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.verdict(now, l.o.Rate, l.o.Rate.wait(b.own(now)) <= 0)
}

// Take takes a token of the caller's bucket. It asks Shared until that time at most.
func (l *Limiter) Take(ctx context.Context, caller string, until time.Time) Verdict {
	now := l.now()
	b := l.buckets.get(caller, now)
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		switch {
		case l.o.Rate.wait(b.own(now)) > 0, now < b.lease.empty:
			return b.verdict(now, l.o.Rate, false)
		case b.lease.tokens(now) > 0:
			b.lease.left--
			b.lease.used++
			return l.charge(b, now)
		case l.o.Shared == nil || !l.ask(ctx, caller, b, until): // the own bucket alone
			return l.charge(b, l.now())
		}
		now = l.now()
	}
}

// charge takes a token of the own bucket, unless somebody else took the last one meanwhile.
func (l *Limiter) charge(b *bucket, now time.Duration) Verdict {
	if l.o.Rate.wait(b.own(now)) > 0 {
		return b.verdict(now, l.o.Rate, false)
	}
	b.charge(now, l.o.Rate)
	return b.verdict(now, l.o.Rate, true)
}

// ask gets an answer of Shared, or waits for that of the question under way; false where
// there was none in time. The lock is held, but not meanwhile.
func (l *Limiter) ask(ctx context.Context, caller string, b *bucket, until time.Time) bool {
	within := until.Sub(l.o.Now())
	if within <= 0 {
		return false
	}
	if answered := b.lease.asking; answered != nil {
		b.lease.waiting++
		b.mu.Unlock()
		timer := time.NewTimer(within)
		defer timer.Stop()
		select {
		case <-answered:
		case <-timer.C:
		}
		b.mu.Lock()
		b.lease.waiting--
		return true // until says when it is enough
	}
	n := b.lease.next(l.now(), l.o.Rate)
	answered := make(chan struct{})
	b.lease.asking = answered
	b.mu.Unlock()
	given, full, err := l.shared(ctx, caller, n, within)
	b.mu.Lock()
	b.lease.asking = nil
	close(answered)
	if err != nil {
		b.lease.known = false
		return false
	}
	b.lease.granted(l.now(), l.o.Rate, n, given, full)
	return true
}

// shared asks for so many tokens. Others wait for the answer, so that it outlives its caller.
func (l *Limiter) shared(ctx context.Context, caller string, n int, within time.Duration) (given int, full time.Duration, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("ratelimit: panic: %v", p)
		}
	}()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
	defer cancel()
	return l.o.Shared.Take(ctx, l.o.Name+":"+caller, l.o.Rate.Interval, l.o.Rate.Burst, n)
}
