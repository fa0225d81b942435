package redis

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"
)

const (
	// callTime bounds each call.
	callTime = 50 * time.Millisecond
	// breakAfter failures in a row refuse all calls for breakTime.
	breakAfter = 5
	breakTime  = time.Second
)

// breaker is a circuit breaker for calls that return T. It is safe for concurrent use.
type breaker[T any] struct {
	calls *gobreaker.CircuitBreaker[T]
}

// newBreaker returns a closed breaker. changed may be nil. It is called with the last failure when
// the breaker starts to refuse calls, and with nil when Redis answers again.
func newBreaker[T any](changed func(cause error)) *breaker[T] {
	var last atomic.Pointer[error]
	return &breaker[T]{gobreaker.NewCircuitBreaker[T](gobreaker.Settings{
		Timeout: breakTime, MaxRequests: 1,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= breakAfter },
		// A caller that left says nothing of the server.
		IsExcluded: func(err error) bool { return errors.Is(err, context.Canceled) },
		IsSuccessful: func(err error) bool {
			if err != nil {
				last.Store(&err)
			}
			return err == nil
		},
		OnStateChange: func(_ string, previous, next gobreaker.State) {
			switch {
			case changed == nil:
			case previous == gobreaker.StateClosed:
				changed(*last.Load())
			case next == gobreaker.StateClosed:
				changed(nil)
			}
		},
	})}
}

// do makes the call with a deadline of callTime, unless calls are refused, which is an error too.
func (b *breaker[T]) do(ctx context.Context, call func(context.Context) (T, error)) (T, error) {
	return b.calls.Execute(func() (T, error) {
		ctx, cancel := context.WithTimeout(ctx, callTime)
		defer cancel()
		return call(ctx)
	})
}

// closed is the state of a breaker that lets every call pass.
const closed = "closed"

// state returns closed, half-open or open.
func (b *breaker[T]) state() string { return b.calls.State().String() }
