package flood_test

import (
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/tier"
)

// size is how large a flood is, and what it may cost.
type size struct {
	// rounds are as many as there may be until enough of them were good.
	rounds, enough, slow, cold int
	// seconds are how long slow connections go on: longer than the gateway bears it.
	seconds int
	args    []string
	// times is how many times later half of the others may be answered, p99 how late all but a
	// hundredth of them.
	times  float64
	p99    time.Duration
	memory int // MiB
	// cores are the gateway's, "" for all: with one of its own, or two that it shares with the callers.
	cores string
	// dir is a folder with data, "" for an empty one.
	dir string
	// kept are connections that stay open until the last question is answered.
	kept bool
}

// small is for a machine on which other tests run, and may disturb a round.
var small = size{rounds: 3, enough: 1, slow: 100, cold: 500, seconds: 6, args: []string{"--read-timeout", "2s"}, times: 50, p99: 500 * time.Millisecond, memory: 200}

const window = 5 * time.Second

// TestFloodLeavesTheOthersAlone runs slow connections and new questions at once. It guarantees answers to callers with
// cached ones, half of them as soon as ever, and to health. The flood itself is answered, with 503 from a full queue.
// Memory is bounded; slow connections are closed.
func TestFloodLeavesTheOthersAlone(t *testing.T) {
	tier.Check(t)
	small.leavesTheOthersAlone(t)
}

func (s size) leavesTheOthersAlone(t *testing.T) {
	g := startGateway(t, s)
	c := must.Get(newCallers(g, 8))(t)
	c.measured(t, "warming", g)
	memory, _ := g.memory(t)
	good := 0
	for round := 0; round < s.rounds && good < s.enough; round++ {
		before := c.measured(t, "before", g)
		over := flood{
			Address: g.address, Question: g.question("user-cold-%d-v1"), Slow: s.slow, Cold: s.cold, First: round * s.cold, Seconds: s.seconds, AtOnce: s.cores != "", Kept: s.kept,
		}.start(t, s.cores != "")
		during := c.measured(t, "during", g)
		ratio := float64(during.p50) / float64(before.p50)
		if ratio <= s.times && during.p99 <= s.p99 {
			good++
		}
		o := over()
		t.Logf("p50 is %.1f times that of before; %d slow connections, %d questions sent in %d ms: %v in %d ms",
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
		t.Errorf("p50 is over %.0f times that of before, or p99 over %s: %d rounds of %d are good", s.times, s.p99, good, s.rounds)
	}
	if peak-memory > s.memory {
		t.Errorf("memory grew by over %d MiB", s.memory)
	}
}

// figures are those of one window.
type figures struct{ p50, p99 time.Duration }

// measured is one window, in which the gateway is also asked whether it is ready.
func (c *callers) measured(t *testing.T, name string, g *gateway) figures {
	t.Helper()
	healthy := make(chan time.Duration, 1)
	go func() { healthy <- g.worstHealth(t) }()
	took, err := c.window(window)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	f := figures{percentile(took.due, 50), percentile(took.due, 99)}
	t.Logf("%s: %d requests, p50 %s, p99 %s, p99.9 %s, most %s; since they were sent p99 %s, most %s; ready in %s at most", name, len(took.due),
		f.p50, f.p99, percentile(took.due, 99.9), percentile(took.due, 100), percentile(took.sent, 99), percentile(took.sent, 100), <-healthy)
	return f
}

// worstHealth asks for readiness ten times a second, and gives the longest time.
func (g *gateway) worstHealth(t *testing.T) (worst time.Duration) {
	for end := time.Now().Add(window); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		status, took, err := g.ready()
		if err != nil || status != 200 {
			t.Errorf("readiness: %d %v", status, err)
		}
		worst = max(worst, took)
	}
	return worst
}
