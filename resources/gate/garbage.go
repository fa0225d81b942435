package gate

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"time"
)

const (
	// ownProcessor is from how many processors on Go leaves some of them to the collector. With
	// fewer it takes a part of each one's time, in pieces of up to a tenth of what a collection
	// takes, in which nobody is answered; what is idle it takes politely.
	ownProcessor = 4
	// soon is how much of the room until the next collection is used up when one is made at
	// once. Go begins when 70 % are, at the earliest.
	soon = 0.6
	// collectTime bounds the wait for a collection.
	collectTime = 100 * time.Millisecond
	// pause is how many times as long as a collection took none is made after it but by Go itself:
	// near a limit of memory, where there is hardly any room, Go takes care not to do nothing else.
	pause = 10
	// lookTime is between two looks at the network while garbage is swept.
	lookTime = 250 * time.Microsecond
)

// collection is of the one heap: done ends the one under way, nil where none is. Nobody has one
// made before next.
var collection struct {
	sync.Mutex
	done chan struct{}
	next time.Time
}

// garbage has a collection made while whoever sees that it is due waits, and all others that do,
// and with that leaves the processor idle to those who do not. A nil one has none made.
type garbage struct{ heap []metrics.Sample }

func newGarbage() *garbage {
	if runtime.GOMAXPROCS(0) >= ownProcessor {
		return nil
	}
	return &garbage{[]metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/goal:bytes"}}}
}

// collect waits for a collection where one is due.
func (g *garbage) collect() {
	if g == nil {
		return
	}
	metrics.Read(g.heap)
	if !due(g.heap[0].Value.Uint64(), g.heap[1].Value.Uint64(), g.heap[2].Value.Uint64()) {
		return
	}
	done := underWay()
	if done == nil {
		return
	}
	enough := time.NewTimer(collectTime)
	defer enough.Stop()
	select {
	case <-done:
	case <-enough.C:
	}
}

// Collect has garbage collected now, unless it was a moment ago: as it is for those who enter a
// gate. It returns when it is over.
func Collect() {
	if done := underWay(); done != nil {
		<-done
	}
}

// underWay is the end of the collection under way, which begins here where none is, unless it is
// too early: then it is nil.
func underWay() chan struct{} {
	collection.Lock()
	defer collection.Unlock()
	began := time.Now()
	if collection.done != nil || began.Before(collection.next) {
		return collection.done
	}
	done := make(chan struct{})
	collection.done = done
	go lookUntil(done, newCycles())
	go func() {
		runtime.GC()
		collection.Lock()
		defer collection.Unlock()
		collection.done, collection.next = nil, time.Now().Add(pause*time.Since(began))
		close(done)
	}()
	return done
}

// newCycles are the collections that have found out what is garbage.
func newCycles() []metrics.Sample {
	cycles := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(cycles)
	return cycles
}

// lookUntil looks at the network while garbage is swept, which is after one more cycle.
func lookUntil(done chan struct{}, cycles []metrics.Sample) {
	before := cycles[0].Value.Uint64()
	look := time.NewTicker(lookTime)
	defer look.Stop()
	for {
		select {
		case <-done:
			return
		case <-look.C:
			if metrics.Read(cycles); cycles[0].Value.Uint64() > before {
				lookAtTheNetwork()
			}
		}
	}
}

// lookAtTheNetwork makes those ready to run for whom something came over the network. Who sweeps
// is always ready to run, so that Go would not look there for some milliseconds; but it does each
// time it starts the world, which is stopped here for the microseconds that the figures take.
func lookAtTheNetwork() {
	var figures runtime.MemStats
	runtime.ReadMemStats(&figures)
}

// due says of the bytes in the heap, those that the last collection left, and those at which
// the next one should be over, whether it is near.
func due(heap, left, goal uint64) bool {
	return goal > left && heap > left && float64(heap-left) > soon*float64(goal-left)
}
