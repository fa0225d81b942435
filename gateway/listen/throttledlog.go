package listen

import (
	"log/slog"
	"sync"
	"time"
)

// throttleTime is between two lines of the log about the same flood.
const throttleTime = 10 * time.Second

// throttledLog writes at most one warning in throttleTime.
type throttledLog struct {
	log     *slog.Logger
	mu      sync.Mutex
	last    time.Time
	dropped int
}

// warn writes a line, or counts it as dropped; the next line says how many were.
func (t *throttledLog) warn(text string, fields ...any) {
	t.mu.Lock()
	now := time.Now()
	if !t.last.IsZero() && now.Sub(t.last) < throttleTime {
		t.dropped++
		t.mu.Unlock()
		return
	}
	dropped := t.dropped
	t.last, t.dropped = now, 0
	t.mu.Unlock()
	t.log.Warn(text, append(fields, "similar_lines_dropped", dropped)...)
}
