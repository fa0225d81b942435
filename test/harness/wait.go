package harness

import (
	"testing"
	"time"
)

// Soon waits until the condition holds, for half a minute at most.
func Soon(t testing.TB, what string, holds func() bool) {
	t.Helper()
	SoonWithin(t, 30*time.Second, what, holds)
}

// SoonWithin asks again and again until the condition holds, and returns how long that took.
func SoonWithin(t testing.TB, limit time.Duration, what string, holds func() bool) time.Duration {
	t.Helper()
	started := time.Now()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		if time.Since(started) > limit {
			t.Fatalf("not within %s: %s", limit, what)
		}
		<-tick.C
	}
	return time.Since(started)
}
