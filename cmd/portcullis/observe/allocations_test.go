//go:build !race

package observe

// The race detector allocates: there is nothing to hold to a bound under it.

import (
	"io"
	"log/slog"
	"testing"
)

// TestObservingACachedRequestAllocatesNothing: neither its line nor its counts.
func TestObservingACachedRequestAllocatesNothing(t *testing.T) {
	log, metrics := NewLog(io.Discard, FormatJSON, slog.LevelInfo), NewMetrics()
	t.Cleanup(log.Close)
	record := benchRecord()
	observe := func() { metrics.Request(&record); log.Request(&record) }
	observe()
	if got := testing.AllocsPerRun(100, observe); got > 0 {
		t.Errorf("%.0f allocations", got)
	}
}
