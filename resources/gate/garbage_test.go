package gate_test

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources/gate"
)

// forced is how many collections were asked for until now.
func forced() uint32 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.NumForcedGC
}

// much is garbage for two thirds of the room until the next collection.
func much() []byte {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/goal:bytes"}}
	metrics.Read(heap)
	objects, left, goal := heap[0].Value.Uint64(), heap[1].Value.Uint64(), heap[2].Value.Uint64()
	return make([]byte, left+(goal-left)*65/100-objects)
}

var kept []byte // is on the heap, whatever the compiler thinks

// TestWorkWaitsForTheCollector: who enters has garbage collected where there is much of it,
// before the collector would begin by itself, or waits for the collection that is under way;
// where there is little, none is.
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
	giving, others := gate.GivingWay(1, 1), gate.New(1, 1)
	runtime.GOMAXPROCS(4)
	many := gate.GivingWay(1, 1)
	runtime.GOMAXPROCS(1)
	kept = make([]byte, 64<<20)
	runtime.GC() // the next one is due when there are about as many bytes again
	if n := enter(giving); n != 0 {
		t.Errorf("%d collections of nothing", n)
	}
	waste := much()
	if n := enter(others) + enter(many); n != 0 {
		t.Errorf("%d collections by a gate that gives no way, or where there are processors for the collector", n)
	}
	gate.CollectFrom(time.Now().Add(time.Hour))
	if n := enter(giving); n != 0 {
		t.Errorf("%d collections in the pause after one", n)
	}
	gate.CollectFrom(time.Now())
	end, began := gate.Collecting(), time.Now()
	if n := enter(giving); n != 0 || time.Since(began) < gate.CollectTime {
		t.Errorf("%d collections while there is one, entered after %s", n, time.Since(began))
	}
	end()
	began = time.Now()
	if n := enter(giving); n != 1 {
		t.Errorf("%d collections while two thirds of the room are garbage, want 1", n)
	}
	if !gate.NextCollection().After(began.Add(time.Microsecond)) {
		t.Error("there is no pause after a collection")
	}
	gate.CollectFrom(time.Now())
	if n := enter(giving); n != 0 {
		t.Errorf("%d collections right after one", n)
	}
	runtime.KeepAlive(waste)
	debug.SetGCPercent(-1)
	if waste = make([]byte, 256<<20); enter(giving) != 0 {
		t.Error("collected, which was switched off")
	}
	runtime.KeepAlive(waste)
	runtime.KeepAlive(kept)
}
