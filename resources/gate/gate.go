package gate

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// Gate is a semaphore with a bounded queue, in which accounts take turns. A nil Gate has no bounds.
// It is safe for concurrent use.
type Gate struct {
	room, maxWaiting int
	refused          atomic.Uint64

	mu      sync.Mutex
	running int
	waiting turns
	// shares are how many of those inside are counted as an account's, nil for none.
	shares map[string]int
}

// New makes a gate. At most room callers, and at least one, are inside at once; at most waiting
// callers wait.
func New(room, waiting int) *Gate {
	return &Gate{room: max(room, 1), maxWaiting: waiting, waiting: newTurns()}
}

// ErrFull is in the chain of the refusal when the queue is full.
var ErrFull = errors.New("too many wait already")

// retryAfter is the pause before a retry of refused work.
const retryAfter = time.Second

// Enter waits for room. Accounts take turns; callers of one account enter in the order of their arrival. The account is
// the context's (Account), otherwise the one given; "" is unknown. Enter is for cache-miss work: it yields once before
// it returns. The error is a *resources.Error of KindUnavailable. Its cause is ErrFull when the queue is full, and the
// context's error when ctx ends. Each Enter without an error needs one Leave.
func (g *Gate) Enter(ctx context.Context, account string) error {
	if g == nil {
		return nil
	}
	if err := g.wait(ctx, Account(ctx, account)); err != nil {
		g.refused.Add(1)
		return refusal(err)
	}
	runtime.Gosched() // cache hits ready to run go first
	return nil
}

// TryEnter enters if there is room now. It neither waits nor yields, since cache hits pass it too. A full gate is the
// same error as Enter's. Each TryEnter without an error needs one Leave.
func (g *Gate) TryEnter() error {
	if g == nil || g.take() {
		return nil
	}
	g.refused.Add(1)
	return refusal(ErrFull)
}

// take takes a place if one is free.
func (g *Gate) take() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running == g.room {
		return false
	}
	g.running++
	return true
}

// wait waits for room. The error is ErrFull or the context's.
func (g *Gate) wait(ctx context.Context, account string) error {
	w, err := g.join(account)
	if w == nil {
		return err
	}
	select {
	case entered := <-w.called:
		if entered {
			return nil
		}
		return ErrFull
	case <-ctx.Done():
	}
	g.mu.Lock()
	gone := g.waiting.remove(w)
	g.mu.Unlock()
	if !gone && <-w.called { // it was called meanwhile
		g.Leave()
	}
	return ctx.Err()
}

// join takes a place (the waiter is nil), joins the queue, or returns an error. In a full queue the account with the
// most waiters gives up its last one, unless it is the caller's own account.
func (g *Gate) join(account string) (*waiter, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.running < g.room:
		g.running++
		return nil, nil
	case g.waiting.count < g.maxWaiting:
	case !g.waiting.giveUp(account):
		return nil, ErrFull
	}
	return g.waiting.add(account), nil
}

// Leave makes room for the next caller.
func (g *Gate) Leave() {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if next := g.waiting.next(); next != nil {
		next.called <- true // the place goes over
		return
	}
	g.running--
}

// Full returns the refusal of a full queue: KindUnavailable with the cause ErrFull.
func Full() error { return refusal(ErrFull) }

// refusal returns the error of refused work.
func refusal(cause error) error {
	return &resources.Error{Kind: resources.KindUnavailable, Message: "There is too much to do now; try again.", RetryAfter: retryAfter, Cause: cause}
}

// Inside returns how many callers are inside.
func (g *Gate) Inside() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.running
}

// Waiting returns how many callers wait.
func (g *Gate) Waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.waiting.count
}

// Refused returns how many callers were refused, by Enter and by TryEnter.
func (g *Gate) Refused() uint64 { return g.refused.Load() }
