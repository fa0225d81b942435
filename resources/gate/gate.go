package gate

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// Gate is a semaphore with a bounded queue. A nil Gate lets everybody through. It is safe for
// concurrent use.
type Gate struct {
	inside  chan struct{}
	most    int64
	waiting atomic.Int64
	turned  atomic.Uint64
}

// New makes a gate that lets so many through at once, at least one, and has so many wait.
func New(inside, waiting int) *Gate {
	return &Gate{inside: make(chan struct{}, max(inside, 1)), most: int64(waiting)}
}

// ErrFull is in the chain of a refusal for want of room in the queue.
var ErrFull = errors.New("too many wait already")

// retryAfter is when to come again: the queue of now is done by then.
const retryAfter = time.Second

// Enter waits for room, in the order of arrival. The error is a *resources.Error of
// KindUnavailable, with ErrFull in its chain where the queue is full, else with why the context
// ended. Each Enter without an error needs one Leave.
func (g *Gate) Enter(ctx context.Context) error {
	if g == nil {
		return nil
	}
	select {
	case g.inside <- struct{}{}:
		runtime.Gosched()
		return nil
	default:
	}
	if g.waiting.Add(1) > g.most {
		g.waiting.Add(-1)
		return g.turnAway(ErrFull)
	}
	defer g.waiting.Add(-1)
	select {
	case g.inside <- struct{}{}:
		runtime.Gosched()
		return nil
	case <-ctx.Done():
		return g.turnAway(ctx.Err())
	}
}

// Leave makes room for the next one.
func (g *Gate) Leave() {
	if g != nil {
		<-g.inside
	}
}

func (g *Gate) turnAway(cause error) error {
	g.turned.Add(1)
	return refusal(cause)
}

// Full is the refusal of what there is no room for: KindUnavailable, with ErrFull in its chain.
func Full() error { return refusal(ErrFull) }

func refusal(cause error) error {
	return &resources.Error{Kind: resources.KindUnavailable, Message: "There is too much to do now; try again.", RetryAfter: retryAfter, Cause: cause}
}

// Inside is how many are inside now.
func (g *Gate) Inside() int { return len(g.inside) }

// Waiting is how many wait now.
func (g *Gate) Waiting() int { return int(g.waiting.Load()) }

// Turned is how many were turned away until now.
func (g *Gate) Turned() uint64 { return g.turned.Load() }
