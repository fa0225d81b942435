package rolecache

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/portcullis-authz/portcullis/store"
)

// fillTimeout bounds a fill or a look-up, which outlives the request that began it.
const fillTimeout = 2 * time.Second

// errLost is of a flight that ended without a word.
var errLost = errors.New("rolecache: a read ended without an answer")

// flights let all who ask for the same at once share one read. The name says so much of what is
// read that a late comer may have what began before.
type flights struct {
	mu    sync.Mutex
	under map[flightName]*flight
}

// flightName is a key with what else the read depends on: the project of a fill, the epoch of a look-up.
type flightName struct {
	key
	project string
	epoch   int64
}

// flight is one read; value and err are set before it is done.
type flight struct {
	done  chan struct{}
	value any
	err   error
}

// join gives the flight of that name, and whether it is the caller's to begin.
func (f *flights) join(name flightName) (one *flight, first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one, ok := f.under[name]; ok {
		return one, false
	}
	one = &flight{done: make(chan struct{}), err: errLost}
	f.under[name] = one
	return one, true
}

func (f *flights) land(name flightName, one *flight) {
	f.mu.Lock()
	delete(f.under, name)
	f.mu.Unlock()
	close(one.done)
}

// together runs fn once for all who ask under the same name at once. It outlives the
// one who came first: a caller who goes away leaves the others their answer.
//
// A store in the process is read by the first one itself: it answers in microseconds, and a new
// goroutine would make its stack large for it each time. Who reads stays until it has been read.
func together[T any](ctx context.Context, c *Cache, name flightName, fn func(context.Context) (T, error)) (none T, err error) {
	one, first := c.flights.join(name)
	if first {
		run := func() {
			defer c.flights.land(name, one)
			defer func() {
				if p := recover(); p != nil { // on a goroutine of its own it would end the process
					one.err = fmt.Errorf("rolecache: panic: %v\n%s", p, debug.Stack())
				}
			}()
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fillTimeout)
			defer cancel()
			one.value, one.err = fn(ctx)
		}
		if c.local {
			run()
		} else {
			go run()
		}
	}
	select {
	case <-one.done:
		if one.err != nil {
			return none, one.err
		}
		return one.value.(T), nil
	case <-ctx.Done():
		return none, fmt.Errorf("%w: %w", store.ErrUnavailable, ctx.Err())
	}
}
