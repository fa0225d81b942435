package rolecache

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/portcullis-authz/portcullis/store"
)

// rounds lets requests share a read begun after each of them has arrived. A request during a running read joins the
// next one, never the running one.
type rounds struct {
	mu   sync.Mutex
	busy bool
	next *round
}

// round is the next read. It begins when the one under way has ended.
type round struct {
	done chan struct{}
	err  error
}

// join runs do, or waits for a run that begins after the call.
func (r *rounds) join(ctx context.Context, do func(context.Context) error) error {
	r.mu.Lock()
	if !r.busy {
		r.busy = true
		r.mu.Unlock()
		defer r.finish(ctx, do)
		return do(ctx)
	}
	if r.next == nil {
		r.next = &round{done: make(chan struct{})}
	}
	joined := r.next
	r.mu.Unlock()
	select {
	case <-joined.done:
		return joined.err
	case <-ctx.Done():
		return store.Unavailable(fmt.Errorf("waiting for the revisions: %w", ctx.Err()))
	}
}

// finish begins the next round, if a request waits for it. The next round outlives this request; the request's own
// round has ended.
func (r *rounds) finish(ctx context.Context, do func(context.Context) error) {
	r.mu.Lock()
	next := r.next
	r.next, r.busy = nil, next != nil
	r.mu.Unlock()
	if next == nil {
		return
	}
	go func() {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), fillTimeout)
		defer cancel()
		defer r.finish(ctx, do) // not with bounded: it would hold the contexts of all rounds
		defer close(next.done)
		defer func() {
			if p := recover(); p != nil { // on this goroutine a panic would end the process
				next.err = fmt.Errorf("rolecache: panic: %v\n%s", p, debug.Stack())
			}
		}()
		next.err = do(bounded)
	}()
}
