package main

import (
	"context"
	"math"
	"os"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"time"

	"github.com/portcullis-authz/portcullis/resources/gate"
)

const (
	// garbagePercent is how much may be allocated, in percent of what is live, before memory is collected. What is
	// live are mostly the caches, which each collection goes through: at Go's default of 100 that takes twice as much
	// of the processor, and this takes as much memory again as the caches do.
	garbagePercent = 200
	// leastRoom is how much may be allocated, however little is live: a flood of some thousand cold questions does
	// without a collection, which takes from those who are remembered what a processor has to spare.
	leastRoom = 256 << 20
	// worthwhile is how much garbage is collected in quiet times, so that a flood finds the room empty.
	worthwhile = leastRoom / 4
	// lookEvery is between two looks at the heap, in which little is allocated where it is quiet; quietLooks are so
	// many that it is.
	lookEvery  = 250 * time.Millisecond
	little     = 1 << 20
	quietLooks = 20
)

// tidy holds the heap to these measures.
type tidy struct {
	heap    []runtimemetrics.Sample
	percent int
	last    uint64
	quiet   int
}

// collectLater holds the heap to the program's own measures until ctx ends, unless the operator has set one (GOGC).
// A limit that is set (GOMEMLIMIT) goes before them.
func collectLater(ctx context.Context) {
	if os.Getenv("GOGC") != "" {
		return
	}
	t := newTidy()
	t.look()
	go func() {
		ticker := time.NewTicker(lookEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				t.look()
			case <-ctx.Done():
				return
			}
		}
	}()
}

func newTidy() *tidy {
	return &tidy{heap: []runtimemetrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}}}
}

func (t *tidy) look() {
	runtimemetrics.Read(t.heap)
	objects, live := t.heap[0].Value.Uint64(), t.heap[1].Value.Uint64()
	if p := percentFor(live); math.Abs(float64(p-t.percent)) > float64(t.percent)/10 {
		debug.SetGCPercent(p)
		t.percent = p
	}
	if t.quiet++; objects > t.last+little {
		t.quiet = 0
	}
	t.last = objects
	if t.quiet >= quietLooks && objects > live+worthwhile {
		gate.Collect()
		t.quiet = 0
	}
}

// percentFor is how many percent of what is live may be allocated.
func percentFor(live uint64) int {
	return max(garbagePercent, int(100*leastRoom/max(float64(live), 16<<20)))
}
