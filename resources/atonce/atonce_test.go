package atonce_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/portcullis-authz/portcullis/resources/atonce"
)

// TestSomeAreUnderWayAtOnce, as many as may be and no more, and each value has its call.
func TestSomeAreUnderWayAtOnce(t *testing.T) {
	const most = 4
	values := make([]int, 40)
	for i := range values {
		values[i] = i
	}
	var under, done atomic.Int64
	var mu sync.Mutex
	full := sync.NewCond(&mu)
	arrived := 0
	err := atonce.Each(t.Context(), values, most, func(context.Context, int) error {
		if n := under.Add(1); n > most {
			t.Errorf("%d calls at once", n)
		}
		defer under.Add(-1)
		mu.Lock()
		defer mu.Unlock()
		arrived++
		full.Broadcast()
		for group := (arrived + most - 1) / most * most; arrived < group; { // no call leaves its group before all of it are there
			full.Wait()
		}
		done.Add(1)
		return nil
	})
	if err != nil || done.Load() != 40 {
		t.Errorf("%d calls, %v", done.Load(), err)
	}
}

// TestTheFirstErrorEndsTheOthers guarantees that an error ends the context of the other calls. A panic is an error, as
// is the end of the caller's context.
func TestTheFirstErrorEndsTheOthers(t *testing.T) {
	broken := errors.New("broken")
	waits := func(ctx context.Context, fail func() error, n int) error {
		if n == 1 {
			return fail()
		}
		<-ctx.Done()
		return ctx.Err()
	}
	err := atonce.Each(t.Context(), []int{0, 1, 2}, 3, func(ctx context.Context, n int) error {
		return waits(ctx, func() error { return broken }, n)
	})
	if !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	err = atonce.Each(t.Context(), []int{0, 1, 2}, 3, func(ctx context.Context, n int) error {
		return waits(ctx, func() error { panic("odd") }, n)
	})
	if err == nil || !strings.HasPrefix(err.Error(), "panic: odd\n") {
		t.Errorf("%v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := atonce.Each(ended, []int{0, 1}, 2, func(context.Context, int) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if err := atonce.Each(t.Context(), nil, 2, func(context.Context, int) error { return broken }); err != nil {
		t.Errorf("nothing: %v", err)
	}
	if err := atonce.Each(t.Context(), []int{1}, 2, func(context.Context, int) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("one: %v", err)
	}
}
