//go:build !race

package main

// The race detector allocates: there is nothing to hold to a bound under it.

import (
	"io"
	"log/slog"
	"testing"
)

// TestObservingAWarmRequestAllocatesNothing: neither its line nor its counts.
func TestObservingAWarmRequestAllocatesNothing(t *testing.T) {
	log := newLogs(io.Discard, "json", slog.LevelInfo)
	t.Cleanup(func() { log.queue.close(flushTime) })
	a := &app{log: log, metrics: newMetrics()}
	record := benchRecord()
	a.observe(record)
	if got := testing.AllocsPerRun(100, func() { a.observe(record) }); got > 0 {
		t.Errorf("%.0f allocations", got)
	}
}
