package gate_test

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/portcullis-authz/portcullis/resources/gate"
)

// forced is how many collections were asked for until now.
func forced() uint32 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.NumForcedGC
}

var kept []byte // is on the heap, whatever the compiler thinks

// TestWorkWaitsForTheCollector: who enters has garbage collected where there is much of it,
// before the collector would begin by itself; where there is little, none is.
func TestWorkWaitsForTheCollector(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	enter := func(g *gate.Gate) uint32 {
		before := forced()
		if err := g.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		g.Leave()
		return forced() - before
	}
	const room = 64 << 20
	kept = make([]byte, room)
	giving, others := gate.GivingWay(1, 1), gate.New(1, 1)
	runtime.GOMAXPROCS(4)
	many := gate.GivingWay(1, 1)
	runtime.GOMAXPROCS(1)
	runtime.GC() // the next one is due when there are as many bytes again
	if n := enter(giving); n != 0 {
		t.Errorf("%d collections of nothing", n)
	}
	waste := make([]byte, room*13/20)
	if n := enter(others) + enter(many); n != 0 {
		t.Errorf("%d collections by a gate that gives no way, or where there are processors for the collector", n)
	}
	if n := enter(giving); n != 1 {
		t.Errorf("%d collections while two thirds of the room are garbage, want 1", n)
	}
	if n := enter(giving); n != 0 {
		t.Errorf("%d collections right after one", n)
	}
	runtime.KeepAlive(waste)
	debug.SetGCPercent(-1)
	if waste = make([]byte, 2*room); enter(giving) != 0 {
		t.Error("collected, which was switched off")
	}
	runtime.KeepAlive(waste)
	runtime.KeepAlive(kept)
}
