package main

import (
	"runtime/debug"
	"testing"
)

// TestGarbageIsTheOperatorsToSet guarantees that the program's own measure holds only where there is no other.
func TestGarbageIsTheOperatorsToSet(t *testing.T) {
	before := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	for set, want := range map[string]int{"": garbage, "70": 100} { // the runtime has taken it over already
		t.Setenv("GOGC", set)
		debug.SetGCPercent(100)
		collectLater()
		if got := debug.SetGCPercent(100); got != want {
			t.Errorf("GOGC=%q: %d, want %d", set, got, want)
		}
	}
}
