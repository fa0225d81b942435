package listen

import (
	"log/slog"
	"sync"
	"time"
)

// throttleTime is the least time between two lines of a throttledLog.
const throttleTime = 10 * time.Second

// throttledLog writes at most one warning in throttleTime. It is safe for concurrent use.
type throttledLog struct {
	log     *slog.Logger
	mu      sync.Mutex
	last    time.Time
	dropped int
}

// warn writes a line, or drops it; the next line has the number of dropped ones.
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
