package load_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// shadowLimit bounds the 99th percentile of live answers beside a candidate, as a ratio.
const shadowLimit = 1.05

// offered is the load, as a share of a gateway's capacity on one connection. With more load, requests would wait for
// each other, and the run would measure the wait.
const offered = 0.3

// candidates are a good candidate and harmful ones. These harm each question about an action of the roles of the test.
var candidates = []struct{ name, rule string }{
	{"good", ""},
	{"loops", "some i in numbers.range(1, 2000)\n\tsome j in numbers.range(1, 2000)\n\ti * j < 0"},
	{"fails", "to_number(input.action.id) == 1"},
	{"takes memory", "count(numbers.range(1, 600000)) < 0\n\tcount(numbers.range(2, 600000)) < 0"},
}

// writeCandidate copies a tree and adds a deny rule with this condition.
func writeCandidate(b *testing.B, tree, rule string) string {
	b.Helper()
	dir := b.TempDir()
	if err := os.CopyFS(dir, os.DirFS(tree)); err != nil {
		b.Fatal(err)
	}
	if rule != "" {
		text := "package authz\n\ndeny contains \"bad\" if {\n\tstartswith(input.action.resource, \"kind\")\n\t" + rule + "\n}\n"
		if err := os.WriteFile(filepath.Join(dir, "authz", "bad.rego"), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

// shadowed is a gateway with its latencies of live answers.
type shadowed struct {
	name string
	p    *process
	c    *client
	next stream
	due  time.Time // of the request under way
	took histogram
	// windows has the latencies of each window, costs its CPU time for each request, in µs.
	windows []histogram
	costs   []float64
}

func (s *shadowed) signal(sig syscall.Signal) error { return syscall.Kill(s.p.pid, sig) }

// paced sends one request after the other on one connection, one every period. A latency counts from the due time, so
// that it includes a wait for the request before.
func (s *shadowed) paced(every, d time.Duration) (int, error) {
	s.took = histogram{}
	s.due = time.Now()
	end := s.due.Add(d)
	h, err := s.c.run(1, s.next, func(asked int, now time.Time) bool {
		if asked > 0 {
			s.took.add(now.Sub(s.due)) // of the answer just received
			s.due = s.due.Add(every)
		}
		for now.Before(s.due) { // the client never sleeps
			now = time.Now()
		}
		return s.due.After(end)
	})
	if err != nil {
		return 0, fmt.Errorf("%s: %w", s.name, err)
	}
	return h.requests, nil
}

// window measures one window. The gateway runs during it only: paused gateways do not disturb the others.
func (s *shadowed) window(every time.Duration) error {
	if err := s.signal(syscall.SIGCONT); err != nil {
		return err
	}
	defer func() { _ = s.signal(syscall.SIGSTOP) }()
	if _, err := s.paced(every, *window/5); err != nil {
		return err
	}
	before, err := s.p.cpu()
	if err != nil {
		return err
	}
	n, err := s.paced(every, *window)
	if err != nil {
		return err
	}
	after, err := s.p.cpu()
	s.windows = append(s.windows, s.took)
	s.costs = append(s.costs, float64((after-before).Nanoseconds())/1e3/float64(n))
	return err
}

// rate returns the time between two requests at the load of offered.
func (s *shadowed) rate() (every time.Duration, err error) {
	h, err := s.c.run(1, s.next, until(0))
	if err != nil || h.requests == 0 {
		return 0, errors.Join(err, fmt.Errorf("%s: %d requests in a window", s.name, h.requests))
	}
	return time.Duration(float64(h.took) / float64(h.requests) / offered), nil
}

// BenchmarkLoadOfShadow compares live answers of gateways with candidates to those of one without. First it compares a
// second one without, and so shows the noise.
func BenchmarkLoadOfShadow(b *testing.B) {
	r := &run{b: b, program: build(b)}
	roles := loadRoles(fewRoles)
	tree := writeTree(b, roles)
	first, second := newWorld(b, repeated+reserved, assigned, tree, roles), newWorld(b, repeated+reserved, assigned, tree, roles)
	pinClient(b)
	start := func(name string, w *world, args ...string) *shadowed {
		p := r.must(startGateway(b, r.program, w, args...))
		return &shadowed{name: name, p: p, next: same(w), c: newClient(b, p.address, w.request, gatewayYes)}
	}
	alone := start("alone", first)
	warm := func(s *shadowed) {
		if _, err := s.c.run(*connections, s.next, until(0)); err != nil {
			b.Fatal(err)
		}
	}
	warm(alone)
	every, err := alone.rate()
	if err != nil {
		b.Fatal(err)
	}
	load, _ := os.ReadFile("/proc/loadavg") // empty without /proc
	fmt.Printf("\n%d windows of %s of each gateway, a request every %s; load average %s\n", *pairs, *window, every, strings.TrimSpace(string(load)))
	t := &tally{}
	measure := func(beside *shadowed, limit bool) {
		warm(beside)
		alone.windows, alone.costs = nil, nil
		for _, s := range []*shadowed{alone, beside} {
			if err := s.signal(syscall.SIGSTOP); err != nil {
				b.Fatal(err)
			}
		}
		for turn := range *pairs {
			both := []*shadowed{alone, beside}
			for i := range both {
				if err := both[(turn+i)%2].window(every); err != nil {
					b.Fatal(err)
				}
			}
		}
		m, cpu, verdict := ratioOfTails(beside.windows, alone.windows), ratioOf(beside.costs, alone.costs), "CHANCE"
		if limit {
			verdict = fmt.Sprintf("%s, at most %.2f", t.judge(m.median <= shadowLimit), shadowLimit)
		}
		fmt.Printf("%s: p99 %.3f [%.3f, %.3f] of alone (%s and %s), CPU %.3f [%.3f, %.3f] (%.1f and %.1f µs a request)  %s  %s\n", beside.name,
			m.median, m.low, m.high, pooled(beside.windows, nil).tail(), pooled(alone.windows, nil).tail(),
			cpu.median, cpu.low, cpu.high, medianOf(beside.costs).median, medianOf(alone.costs).median, verdict, shadowTotals(b, beside))
		if err := beside.signal(syscall.SIGKILL); err != nil {
			b.Fatal(err)
		}
	}
	measure(start("alone again", second), false)
	for _, candidate := range candidates {
		beside := start(candidate.name, second, "--shadow-policy-dir", writeCandidate(b, tree, candidate.rule))
		await(b, beside.p, "judges beside")
		measure(beside, true)
	}
}

// await waits for a line of the log.
func await(b *testing.B, p *process, line string) {
	b.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(readyTime); !strings.Contains(p.text(b), line); <-tick.C {
		if time.Now().After(end) {
			b.Fatalf("the log does not say %q: %.2000s", line, p.text(b))
		}
	}
}

// shadowTotals returns the counts of the outcomes of shadow evaluations.
func shadowTotals(b *testing.B, s *shadowed) string {
	b.Helper()
	if err := s.signal(syscall.SIGCONT); err != nil {
		b.Fatal(err)
	}
	response, err := http.Get("http://" + s.p.health + "/metrics")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		b.Fatal(err)
	}
	var outcomes []string
	for line := range strings.Lines(string(text)) {
		if outcome, ok := strings.CutPrefix(line, "portcullis_shadow_total{outcome="); ok {
			outcomes = append(outcomes, strings.TrimSpace(strings.NewReplacer(`"`, "", "}", "").Replace(outcome)))
		}
	}
	return strings.Join(outcomes, " ")
}
