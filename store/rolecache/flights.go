package rolecache

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/store"
)

// fillTimeout is the deadline of a fill or a look-up. Either outlives the request that began it.
const fillTimeout = 2 * time.Second

// errLost is the error of a flight whose function did not return.
var errLost = errors.New("rolecache: a read ended without a result")

// flights let concurrent callers share one read. The name says enough of what is read for a caller to
// take the result of a read that began before the call.
type flights struct {
	mu      sync.Mutex
	running map[flightName]*flight
}

// flightName is a key with the further inputs of its read: the pair of a fill, the epoch of a look-up, and the
// account whose turn it takes. So an account's users do not wait for the turns of a caller from another account.
type flightName struct {
	key
	pair  resources.About
	epoch int64
	turn  string
}

// flight is one read. value and err are set before done is closed.
type flight struct {
	done  chan struct{}
	value any
	err   error
}

// join returns the flight of that name. The caller begins it if first is true.
func (f *flights) join(name flightName) (one *flight, first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one, ok := f.running[name]; ok {
		return one, false
	}
	one = &flight{done: make(chan struct{}), err: errLost}
	f.running[name] = one
	return one, true
}

// land ends the flight.
func (f *flights) land(name flightName, one *flight) {
	f.mu.Lock()
	delete(f.running, name)
	f.mu.Unlock()
	close(one.done)
}

// together runs fn once for all concurrent callers of the same name. The run outlives the first
// caller's request: the others still get its result.
//
// A store in the process is read on the first caller's goroutine: it answers in microseconds, and a
// new goroutine would have to grow its stack each time.
func together[T any](ctx context.Context, c *Cache, name flightName, fn func(context.Context) (T, error)) (none T, err error) {
	name.turn = gate.Account(ctx, name.account)
	one, first := c.flights.join(name)
	if first {
		run := func() {
			defer c.flights.land(name, one)
			defer func() {
				if p := recover(); p != nil { // on its own goroutine a panic would end the process
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
		return none, store.Unavailable(fmt.Errorf("waiting for facts: %w", ctx.Err()))
	}
}
