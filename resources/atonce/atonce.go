// Package atonce calls a function for several values, a bounded number of them at once.
package atonce

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
)

// Each calls do with each value, at most so many at once, and returns the first error. That error ends the context of
// the other calls. The error of a panic has the stack.
func Each[T any](ctx context.Context, values []T, most int, do func(context.Context, T) error) error {
	if len(values) == 1 {
		return do(ctx, values[0])
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var calls sync.WaitGroup
	room := make(chan struct{}, most)
	for _, v := range values {
		room <- struct{}{}
		calls.Go(func() {
			defer func() { <-room }()
			defer func() {
				if p := recover(); p != nil { // on this goroutine a panic would end the process
					stop(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
				}
			}()
			if ctx.Err() != nil {
				return
			}
			if err := do(ctx, v); err != nil {
				stop(err)
			}
		})
	}
	calls.Wait()
	return context.Cause(ctx)
}
