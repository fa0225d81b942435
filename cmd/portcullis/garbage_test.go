package main

import (
	"context"
	"runtime"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"testing"
	"time"
)

// TestGarbageIsTheOperatorsToSet guarantees that the program's own measure holds only where there is no other.
func TestGarbageIsTheOperatorsToSet(t *testing.T) {
	before := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // one look is enough
	live := func() uint64 {
		of := []runtimemetrics.Sample{{Name: "/gc/heap/live:bytes"}}
		runtimemetrics.Read(of)
		return of[0].Value.Uint64()
	}
	runtime.GC()
	for set, own := range map[string]bool{"": true, "70": false} { // the runtime has taken it over already
		t.Setenv("GOGC", set)
		want, is := 100, live()
		if own {
			want = percentFor(is)
		}
		collectLater(ctx)
		if got := debug.SetGCPercent(100); got != want {
			t.Errorf("GOGC=%q: %d, want %d for %d bytes that were live, and %d now", set, got, want, is, live())
		}
	}
}

// TestThereIsRoomForAFlood: in percent of what is live, so that little of it does not mean little room.
func TestThereIsRoomForAFlood(t *testing.T) {
	for live, want := range map[uint64]int{0: 1600, 16 << 20: 1600, 32 << 20: 800, 100 << 20: 256, 128 << 20: 200, 4 << 30: 200} {
		if got := percentFor(live); got != want {
			t.Errorf("%d MiB are live: %d, want %d", live>>20, got, want)
		}
	}
}

var wasted []byte // on the heap, whatever the compiler thinks

// TestGarbageIsCollectedWhenItIsQuiet: when there is enough of it, and not while much is allocated.
func TestGarbageIsCollectedWhenItIsQuiet(t *testing.T) {
	before := debug.SetGCPercent(-1)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	h := newTidy()
	h.percent = percentFor(0) // and is not set
	collections := func(looks int, each int) uint32 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		was := m.NumForcedGC
		for range looks {
			wasted = make([]byte, each)
			h.look()
		}
		runtime.ReadMemStats(&m)
		return m.NumForcedGC - was
	}
	runtime.GC()
	if n := collections(3*quietLooks, 0); n != 0 {
		t.Errorf("%d collections of nothing", n)
	}
	wasted = make([]byte, worthwhile/2)
	if n := collections(3*quietLooks, 0); n != 0 {
		t.Errorf("%d collections of little", n)
	}
	if n := collections(3*quietLooks, 4<<20); n != 0 {
		t.Errorf("%d collections while there is much to do", n)
	}
	for end := time.Now().Add(time.Minute); ; { // there may have been one a moment ago
		n := collections(quietLooks, 0)
		if n == 1 {
			break
		}
		if n > 1 || time.Now().After(end) {
			t.Fatalf("%d collections when it is quiet", n)
		}
	}
	if n := collections(3*quietLooks, 0); n != 0 {
		t.Errorf("%d more collections of nothing", n)
	}
}
