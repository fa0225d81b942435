package gate_test

import (
	"bytes"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/portcullis-authz/portcullis/resources/gate"
)

// asks has the gate do the work.
//
//go:noinline
func asks(g *gate.Gate, work func()) { g.Do(work) }

// TestWorkIsDoneOnAStackOfTheGates: on the caller's where there is none, or the gate only counts.
func TestWorkIsDoneOnAStackOfTheGates(t *testing.T) {
	for name, c := range map[string]struct {
		g    *gate.Gate
		mine bool
	}{"none": {nil, true}, "counts": {gate.New(1, 1), true}, "gives way": {gate.GivingWay(2, 1), false}} {
		for range 5 {
			var stack []byte
			asks(c.g, func() { stack = debug.Stack() })
			if mine := bytes.Contains(stack, []byte("gate_test.asks")); mine != c.mine {
				t.Errorf("%s: on the caller's stack: %t\n%s", name, mine, stack)
			}
		}
	}
}

// TestPanicsAreTheCallers: and who comes after them is served.
func TestPanicsAreTheCallers(t *testing.T) {
	g := gate.GivingWay(1, 1)
	for range 3 {
		func() {
			defer func() {
				if r := recover(); r != "broken" {
					t.Errorf("recovered %v", r)
				}
			}()
			g.Do(func() { panic("broken") })
			t.Error("went on after a panic")
		}()
		left := make(chan struct{})
		go func() { // as a test that fails does
			defer close(left)
			g.Do(runtime.Goexit)
			t.Error("went on after the goroutine's end")
		}()
		<-left
		done := false
		if g.Do(func() { done = true }); !done {
			t.Error("nothing is done after a panic")
		}
	}
}

// TestWorkOfManyIsDoneOnce: each one's, however many ask at once.
func TestWorkOfManyIsDoneOnce(t *testing.T) {
	g, sums := gate.GivingWay(3, 1000), make(chan int)
	for i := range 100 {
		go func() {
			sum := 0
			for range 100 {
				if err := g.Enter(t.Context()); err != nil {
					t.Error(err)
				}
				g.Do(func() { runtime.Gosched(); sum += i })
				g.Leave()
			}
			sums <- sum
		}()
	}
	total := 0
	for range 100 {
		total += <-sums
	}
	if want := 100 * 99 * 50; total != want {
		t.Errorf("%d, want %d", total, want)
	}
}
