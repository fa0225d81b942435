package harness

import (
	"testing"
	"time"
)

// Soon waits until the condition holds, for half a minute at most.
func Soon(t testing.TB, title string, holds func() bool) {
	t.Helper()
	SoonWithin(t, 30*time.Second, title, holds)
}

// SoonWithin asks again and again until the condition holds, and returns about how long that took: it asks less often as
// time goes by, since others want the processor, too.
func SoonWithin(t testing.TB, limit time.Duration, title string, holds func() bool) time.Duration {
	t.Helper()
	started := time.Now()
	for pause := 10 * time.Millisecond; !holds(); pause = min(pause*5/4, 200*time.Millisecond) {
		if time.Since(started) > limit {
			t.Fatalf("not within %s: %s", limit, title)
		}
		<-time.After(pause)
	}
	return time.Since(started)
}
