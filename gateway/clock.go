package gateway

import (
	"sync"
	"sync/atomic"
	"time"
)

// ticksOfLimit is how many ticks of the clock the shortest of the limits that it measures
// takes, unless the clock would tick more often than that is worth.
const (
	ticksOfLimit = 16
	longestTick  = 100 * time.Millisecond
	shortestTick = time.Millisecond
)

// clock says without asking the system how much time has passed since it was made, up to a
// tick too little: the limits of a connection need three readings for each request, which
// take longer than finding an answer that is remembered.
type clock struct {
	base time.Time
	tick time.Duration
	// passed is in nanoseconds.
	passed atomic.Int64
	done   chan struct{}

	start, stop sync.Once
}

// newClock is one to measure these limits with; 0 is no limit.
func newClock(limits ...time.Duration) *clock {
	k := &clock{base: time.Now(), tick: longestTick, done: make(chan struct{})}
	for _, limit := range limits {
		if limit > 0 {
			k.tick = min(k.tick, max(limit/ticksOfLimit, shortestTick))
		}
	}
	return k
}

// run has it tick until end, however often it is called.
func (k *clock) run() {
	k.start.Do(func() {
		k.passed.Store(int64(time.Since(k.base)))
		go func() {
			ticker := time.NewTicker(k.tick)
			defer ticker.Stop()
			for {
				select {
				case <-ticker.C:
					k.passed.Store(int64(time.Since(k.base)))
				case <-k.done:
					return
				}
			}
		}()
	})
}

func (k *clock) end() { k.stop.Do(func() { close(k.done) }) }

// after is when a limit that begins now is over, in nanoseconds since the clock was made: not
// before that, and up to a tick later; 0 is never, which is the end of none.
func (k *clock) after(limit time.Duration) int64 {
	if limit <= 0 {
		return 0
	}
	return k.passed.Load() + int64(k.tick+limit)
}
