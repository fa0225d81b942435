package gate

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// Gate is a semaphore with a bounded queue. A nil Gate has no bounds. It is safe for concurrent
// use.
type Gate struct {
	inside     chan struct{}
	maxWaiting int64
	waiting    atomic.Int64
	refused    atomic.Uint64
}

// New makes a gate. At most inside callers, and at least one, are inside at once; at most waiting
// callers wait.
func New(inside, waiting int) *Gate {
	return &Gate{inside: make(chan struct{}, max(inside, 1)), maxWaiting: int64(waiting)}
}

// ErrFull is in the chain of the refusal when the queue is full.
var ErrFull = errors.New("too many wait already")

// retryAfter is the pause before a retry of refused work.
const retryAfter = time.Second

// Enter waits for room, in the order of arrival. It is for cache-miss work: it yields once before it
// returns. The error is a *resources.Error of KindUnavailable. Its cause is ErrFull when the queue is
// full, and the context's error when ctx ends. Each Enter without an error needs one Leave.
func (g *Gate) Enter(ctx context.Context) error {
	if g == nil {
		return nil
	}
	if err := g.wait(ctx); err != nil {
		g.refused.Add(1)
		return refusal(err)
	}
	runtime.Gosched() // cache hits that are ready to run go first
	return nil
}

// TryEnter enters if there is room now. It neither waits nor yields: it is for bounds that cache hits
// pass too. The error is that of Enter when the queue is full. Each TryEnter without an error needs one
// Leave.
func (g *Gate) TryEnter() error {
	if g == nil || g.take() {
		return nil
	}
	g.refused.Add(1)
	return refusal(ErrFull)
}

// take takes a place if one is free.
func (g *Gate) take() bool {
	select {
	case g.inside <- struct{}{}:
		return true
	default:
		return false
	}
}

// wait waits for room. The error is ErrFull or the context's.
func (g *Gate) wait(ctx context.Context) error {
	if g.take() {
		return nil
	}
	if g.waiting.Add(1) > g.maxWaiting {
		g.waiting.Add(-1)
		return ErrFull
	}
	defer g.waiting.Add(-1)
	select {
	case g.inside <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Leave makes room for the next caller.
func (g *Gate) Leave() {
	if g != nil {
		<-g.inside
	}
}

// Full returns the refusal of a full queue: KindUnavailable with the cause ErrFull.
func Full() error { return refusal(ErrFull) }

// refusal returns the error of refused work.
func refusal(cause error) error {
	return &resources.Error{Kind: resources.KindUnavailable, Message: "There is too much to do now; try again.", RetryAfter: retryAfter, Cause: cause}
}

// Inside returns how many callers are inside.
func (g *Gate) Inside() int { return len(g.inside) }

// Waiting returns how many callers wait.
func (g *Gate) Waiting() int { return int(g.waiting.Load()) }

// Refused returns how many callers were refused, by Enter and by TryEnter.
func (g *Gate) Refused() uint64 { return g.refused.Load() }
