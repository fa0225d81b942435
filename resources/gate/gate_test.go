package gate_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestGateBoundsInsideAndWaiting checks that the gate refuses callers beyond both bounds. Each Leave lets in the first
// waiter.
func TestGateBoundsInsideAndWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gate.New(2, 3)
		var entered []int
		for i := range 5 {
			go func() {
				if err := g.Enter(t.Context(), "acct-a-v1"); err != nil {
					t.Errorf("%d: %v", i, err)
				}
				entered = append(entered, i)
			}()
			synctest.Wait()
		}
		err := g.Enter(t.Context(), "acct-a-v1")
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
		must.Do(t, g.Enter(t.Context(), "acct-a-v1"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := g.Enter(ctx, "acct-a-v1")
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, gate.ErrFull) || !resources.IsKind(err, resources.KindUnavailable) || g.Waiting() != 0 {
			t.Errorf("%v, %d wait", err, g.Waiting())
		}
	})
}

// TestTryEnterNeverWaits checks that TryEnter takes free room, also in a gate with a queue, and refuses at once without
// any.
func TestTryEnterNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gate.New(1, 1)
		must.Do(t, g.TryEnter())
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
		must.Do(t, errors.Join(g.Enter(t.Context(), "acct-a-v1"), g.TryEnter(), g.Share("acct-a-v1")))
	}
	g.Unshare("acct-a-v1")
	g.Leave()
}

// line is a gate with one place, taken by nobody's account, and notes who enters.
type line struct {
	*gate.Gate
	mu      sync.Mutex
	entered []string
	refused []string
}

func newLine(t *testing.T, waiting int) *line {
	l := &line{Gate: gate.New(1, waiting)}
	must.Do(t, l.TryEnter())
	return l
}

// wait has somebody wait for the turn of the account.
func (l *line) wait(ctx context.Context, account, name string) {
	go func() {
		err := l.Enter(ctx, account)
		l.mu.Lock()
		defer l.mu.Unlock()
		if err == nil {
			l.entered = append(l.entered, name)
		} else {
			l.refused = append(l.refused, name)
		}
	}()
	synctest.Wait()
}

// leave has n callers leave, one after the other, and returns who entered.
func (l *line) leave(n int) []string {
	l.entered = nil
	for range n {
		l.Leave()
		synctest.Wait()
	}
	return l.entered
}

// TestAccountsTakeTurns guarantees that an account with many waiters enters as often as one with a single waiter. Those
// of one account enter in the order of their arrival.
func TestAccountsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(t, 9)
		for _, name := range []string{"a1", "a2", "a3", "a4", "b1", "b2", "c1"} {
			l.wait(t.Context(), name[:1], name)
		}
		if got, want := l.leave(3), []string{"a1", "b1", "c1"}; !slices.Equal(got, want) {
			t.Errorf("first %q, want %q", got, want)
		}
		l.wait(t.Context(), "c", "c2")
		if got, want := l.leave(5), []string{"a2", "b2", "c2", "a3", "a4"}; !slices.Equal(got, want) {
			t.Errorf("then %q, want %q", got, want)
		}
		if l.Leave(); l.Inside() != 0 || l.Waiting() != 0 {
			t.Errorf("%d inside, %d waiting", l.Inside(), l.Waiting())
		}
	})
}

// TestCallersOfNoAccountHaveEveryOtherTurn guarantees that authenticated callers do not keep out the others, nor the
// reverse.
func TestCallersOfNoAccountHaveEveryOtherTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(t, 9)
		for _, name := range []string{"-1", "-2", "-3", "-4", "a1", "b1", "c1"} {
			l.wait(t.Context(), strings.Trim(name[:1], "-"), name)
		}
		if got, want := l.leave(7), []string{"a1", "-1", "b1", "-2", "c1", "-3", "-4"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// TestContextsAccountTakesTheTurn guarantees that users with questions about many accounts take turns as their own
// account only.
func TestContextsAccountTakesTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(t, 9)
		ctx := context.WithValue(t.Context(), gate.AccountKey{}, "a")
		for _, name := range []string{"x1", "x2", "x3"} {
			l.wait(ctx, name, name)
		}
		l.wait(t.Context(), "b", "b1")
		if got, want := l.leave(4), []string{"x1", "b1", "x2", "x3"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// TestFullQueueTurnsAwayWhoHasMost guarantees that one account can't fill the queue: its last waiter gives way to
// another account's. Nobody gives way to an account with as many waiters.
func TestFullQueueTurnsAwayWhoHasMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(t, 3)
		for _, name := range []string{"a1", "a2", "a3", "b1", "c1", "a4", "b2"} {
			l.wait(t.Context(), name[:1], name)
		}
		if want := []string{"a3", "a2", "a4", "b2"}; !slices.Equal(l.refused, want) || l.Refused() != 4 {
			t.Errorf("refused %q, want %q", l.refused, want)
		}
		if got, want := l.leave(3), []string{"a1", "b1", "c1"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// TestWhoIsGoneHasNoTurn guarantees that a caller with an ended context loses the turn to the next one.
func TestWhoIsGoneHasNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(t, 9)
		gone, leave := context.WithCancel(t.Context())
		l.wait(gone, "a", "a1")
		l.wait(t.Context(), "b", "b1")
		l.wait(gone, "b", "b2")
		leave()
		synctest.Wait()
		if got, want := l.leave(1), []string{"b1"}; !slices.Equal(got, want) || l.Waiting() != 0 {
			t.Errorf("%q, want %q; %d wait", got, want, l.Waiting())
		}
	})
}

// TestManyGoThroughAGate guarantees that no place is lost while callers come, wait, give up and are refused at once.
func TestManyGoThroughAGate(t *testing.T) {
	g := gate.New(3, 4)
	var inside, most atomic.Int64
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			for n := range 200 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n%3)*10*time.Microsecond)
				if n%4 == 0 {
					ctx = t.Context()
				}
				if g.Enter(ctx, []string{"", "a", "b"}[i%3]) == nil {
					if now := inside.Add(1); now > most.Load() {
						most.Store(now)
					}
					runtime.Gosched()
					inside.Add(-1)
					g.Leave()
				}
				cancel()
			}
		})
	}
	all.Wait()
	if most.Load() > 3 || g.Inside() != 0 || g.Waiting() != 0 {
		t.Errorf("%d at once, %d inside, %d waiting", most.Load(), g.Inside(), g.Waiting())
	}
	for range 3 {
		must.Do(t, g.TryEnter())
	}
}

// TestOneAccountHasNotAllPlaces guarantees the last eighth of the places to accounts with less than half of all. A
// caller who is refused takes none.
func TestOneAccountHasNotAllPlaces(t *testing.T) {
	g := gate.New(16, 0)
	enter := func(account string) error {
		must.Do(t, g.TryEnter())
		err := g.Share(account)
		if err != nil {
			g.Leave()
		}
		return err
	}
	for i := range 14 {
		if err := enter("a"); err != nil {
			t.Fatalf("%d: %v", i, err)
		}
	}
	for range 2 {
		if err := enter("a"); !errors.Is(err, gate.ErrFull) || g.Inside() != 14 {
			t.Errorf("%v, %d inside", err, g.Inside())
		}
	}
	if err := errors.Join(enter("b"), enter("")); err != nil || g.Refused() != 2 {
		t.Errorf("%v, %d refused", err, g.Refused())
	}
	g.Unshare("a")
	g.Unshare("")
	g.Leave()
	g.Leave()
	if err := enter("a"); err == nil {
		t.Error("the 15th place is for others still")
	}
	for range 7 {
		g.Unshare("a")
	}
	if err := enter("a"); err != nil {
		t.Errorf("an account with less than half: %v", err)
	}
}
