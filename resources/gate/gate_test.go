package gate_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
)

// TestGateBoundsInsideAndWaiting checks that callers beyond both bounds are refused, and that each
// Leave lets in the caller that waits longest.
func TestGateBoundsInsideAndWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gate.New(2, 3)
		var entered []int
		for i := range 5 {
			go func() {
				if err := g.Enter(t.Context()); err != nil {
					t.Errorf("%d: %v", i, err)
				}
				entered = append(entered, i)
			}()
			synctest.Wait()
		}
		err := g.Enter(t.Context())
		if e := resources.AsError(err); !errors.Is(err, gate.ErrFull) || e.Kind != resources.KindUnavailable || e.RetryAfter != time.Second {
			t.Errorf("the sixth: %v", err)
		}
		if g.Inside() != 2 || g.Waiting() != 3 || g.Refused() != 1 {
			t.Errorf("%d inside, %d waiting, %d refused", g.Inside(), g.Waiting(), g.Refused())
		}
		for i := range 5 {
			g.Leave()
			synctest.Wait()
			if want := min(3+i, 5); len(entered) != want || entered[want-1] != want-1 {
				t.Errorf("after %d left: %v", i+1, entered)
			}
		}
		if g.Inside() != 0 || g.Waiting() != 0 {
			t.Errorf("%d inside, %d waiting", g.Inside(), g.Waiting())
		}
	})
}

// TestCancelledCallerLeavesTheQueue checks that the end of a context frees its place in the queue.
func TestCancelledCallerLeavesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gate.New(1, 1)
		if err := g.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := g.Enter(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, gate.ErrFull) || !resources.IsKind(err, resources.KindUnavailable) || g.Waiting() != 0 {
			t.Errorf("%v, %d wait", err, g.Waiting())
		}
	})
}

// TestTryEnterNeverWaits checks that TryEnter takes the room that there is, also in a gate with a queue,
// and refuses at once where there is none.
func TestTryEnterNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gate.New(1, 1)
		if err := g.TryEnter(); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		err := g.TryEnter()
		if e := resources.AsError(err); !errors.Is(err, gate.ErrFull) || e.Kind != resources.KindUnavailable || e.RetryAfter != time.Second {
			t.Errorf("without room: %v", err)
		}
		if g.Inside() != 1 || g.Waiting() != 0 || g.Refused() != 1 || !time.Now().Equal(began) {
			t.Errorf("%d inside, %d waiting, %d refused", g.Inside(), g.Waiting(), g.Refused())
		}
		g.Leave()
		if err := g.TryEnter(); err != nil {
			t.Errorf("with room again: %v", err)
		}
	})
}

// TestNilGateHasNoBound checks that a nil gate lets all callers in.
func TestNilGateHasNoBound(t *testing.T) {
	var g *gate.Gate
	for range 100 {
		if err := errors.Join(g.Enter(t.Context()), g.TryEnter()); err != nil {
			t.Fatal(err)
		}
	}
	g.Leave()
}
