package flood_test

import (
	"os"
	"testing"
	"time"
)

// envFull asks for the full flood, whose ratio is judged.
const envFull = "PORTCULLIS_TEST_FLOOD"

// size is how large a flood is, and what it may cost.
type size struct {
	// rounds are as many as there may be until enough of them were good.
	rounds, enough, slow, cold int
	// seconds are how long slow connections go on: longer than the gateway bears it.
	seconds int
	args    []string
	// times is how much later the others may be answered, unless it is in no time anyway.
	times  float64
	noTime time.Duration
	memory int // MiB
	// apart gives the gateway a core of its own.
	apart bool
	// kept are connections that stay open until the last question is answered.
	kept bool
}

var (
	// small is for a machine on which other tests run, and may disturb a round.
	small = size{rounds: 3, enough: 1, slow: 100, cold: 500, seconds: 6, args: []string{"--read-timeout", "2s"}, times: 5, noTime: 250 * time.Millisecond, memory: 200}
	full  = size{rounds: 3, enough: 2, slow: 1000, cold: 5000, seconds: 13, times: 2, memory: 300, apart: true}
	// staying is of clients who send first, read later, and then leave all at once.
	staying = size{rounds: 3, enough: 2, slow: 1000, cold: 5000, seconds: 13, times: 5, memory: 450, apart: true, kept: true}
)

// within is one window.
const within = 5 * time.Second

// TestFloodLeavesTheOthersAlone: a thousand slow connections and five thousand questions that
// nobody asked before, at once; callers who ask what they always ask are answered, and at most
// twice as late, or five times where all of the flood stays connected, and leaves at once; health
// answers; memory is bounded; slow connections are closed.
func TestFloodLeavesTheOthersAlone(t *testing.T) {
	if os.Getenv(envFull) == "" {
		small.leavesTheOthersAlone(t)
		return
	}
	apart(t)
	t.Run("who is answered leaves", full.leavesTheOthersAlone)
	t.Run("all stay until the last one is answered", staying.leavesTheOthersAlone)
}

func (s size) leavesTheOthersAlone(t *testing.T) {
	g := startGateway(t, s)
	c, err := newCallers(g, 8)
	if err != nil {
		t.Fatal(err)
	}
	c.measured(t, "warming", g)
	memory, _ := g.memory(t)
	good := 0
	for round := 0; round < s.rounds && good < s.enough; round++ {
		before := c.measured(t, "before", g)
		over := flood{
			Address: g.address, Question: g.question("user-cold-%d-v1"), Slow: s.slow, Cold: s.cold, First: round * s.cold, Seconds: s.seconds, AtOnce: s.apart, Kept: s.kept,
		}.start(t, s.apart)
		during := c.measured(t, "during", g)
		ratio := float64(during) / float64(before)
		if ratio <= s.times || during <= s.noTime {
			good++
		}
		o := over()
		t.Logf("p99 is %.1f times that of before; %d slow connections, %d questions sent in %d ms: %v in %d ms",
			ratio, o.Slow, s.cold, o.Sent, o.Answered, o.Took)
		if o.Failed > 0 || o.Answered[200]+o.Answered[503] != s.cold || o.Answered[200] == 0 {
			t.Errorf("questions of the flood: %v, %d without an answer", o.Answered, o.Failed)
		}
		if o.Ended != o.Slow {
			t.Errorf("%d of %d slow connections were ended", o.Ended, o.Slow)
		}
	}
	_, peak := g.memory(t)
	t.Logf("memory %d MiB before, %d MiB at most", memory, peak)
	if good < s.enough {
		t.Errorf("p99 is over %.0f times that of before: %d rounds of %d are good", s.times, good, s.rounds)
	}
	if peak-memory > s.memory {
		t.Errorf("memory grew by over %d MiB", s.memory)
	}
}

// measured is the p99 of one window, in which the gateway is also asked whether it is ready.
func (c *callers) measured(t *testing.T, name string, g *gateway) time.Duration {
	t.Helper()
	healthy := make(chan time.Duration, 1)
	go func() { healthy <- g.worstHealth(t) }()
	took, err := c.window(within)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	p99 := percentile(took, 99)
	t.Logf("%s: %d requests, p50 %s, p99 %s, p99.9 %s, most %s; ready in %s at most", name, len(took), percentile(took, 50), p99, percentile(took, 99.9), took[len(took)-1], <-healthy)
	return p99
}

// worstHealth asks for readiness ten times a second, and gives the longest time.
func (g *gateway) worstHealth(t *testing.T) (worst time.Duration) {
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		status, took, err := g.ready()
		if err != nil || status != 200 {
			t.Errorf("readiness: %d %v", status, err)
		}
		worst = max(worst, took)
	}
	return worst
}
