package breaker

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"
)

const (
	// Time bounds each thing that is asked.
	Time = 50 * time.Millisecond
	// breakAfter failures in a row nobody asks for breakTime.
	breakAfter = 5
	breakTime  = time.Second
)

// Breaker stands before a server that answers with T. It is safe for concurrent use.
type Breaker[T any] struct{ of *gobreaker.CircuitBreaker[T] }

// New makes one. changed, where it is not nil, is told when the server is left alone, with
// what failed last, and with nil when it answers again.
func New[T any](changed func(cause error)) *Breaker[T] {
	var last atomic.Pointer[error]
	return &Breaker[T]{gobreaker.NewCircuitBreaker[T](gobreaker.Settings{
		Timeout: breakTime, MaxRequests: 1,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= breakAfter },
		IsSuccessful: func(err error) bool {
			if err == nil || errors.Is(err, context.Canceled) { // who asked has left: that says nothing of the server
				return true
			}
			last.Store(&err)
			return false
		},
		OnStateChange: func(_ string, from, to gobreaker.State) {
			switch {
			case changed == nil:
			case from == gobreaker.StateClosed:
				changed(*last.Load())
			case to == gobreaker.StateClosed:
				changed(nil)
			}
		},
	})}
}

// Do asks, for Time at most; an error is also that the server is left alone.
func (b *Breaker[T]) Do(ctx context.Context, ask func(context.Context) (T, error)) (T, error) {
	return b.of.Execute(func() (T, error) {
		ctx, cancel := context.WithTimeout(ctx, Time)
		defer cancel()
		return ask(ctx)
	})
}
