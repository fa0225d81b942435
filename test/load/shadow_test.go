package load_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// shadowLimit is what a candidate may do to the 99th percentile of live answers.
const shadowLimit = 1.05

// bad are candidates that do harm to every question about the actions of one role, one in as many as there are roles.
var bad = []struct{ name, rule string }{
	{"good", ""},
	{"loops", "some i in numbers.range(1, 2000)\n\tsome j in numbers.range(1, 2000)\n\ti * j < 0"},
	{"fails", "to_number(input.action.id) == 1"},
	{"takes memory", "count(numbers.range(1, 600000)) < 0\n\tcount(numbers.range(2, 600000)) < 0"},
}

// writeCandidate copies a tree and adds the rule.
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

// shadowed is a gateway with its live latencies.
type shadowed struct {
	name string
	p    *process
	c    *client
	next stream
	took []time.Duration
	p99  []float64 // µs, by window
}

func (s *shadowed) signal(sig syscall.Signal) error { return syscall.Kill(s.p.pid, sig) }

// window measures one window, while all other gateways are stopped.
func (s *shadowed) window() error {
	if err := s.signal(syscall.SIGCONT); err != nil {
		return err
	}
	defer func() { _ = s.signal(syscall.SIGSTOP) }()
	warm := time.Now().Add(*window / 5)
	if _, err := s.c.run(*connections, s.next, func(_ int, now time.Time) bool { return now.After(warm) }); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	s.took = s.took[:0]
	if _, err := s.c.run(*connections, s.next, until(0)); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	slices.Sort(s.took)
	s.p99 = append(s.p99, float64(s.took[len(s.took)*99/100].Nanoseconds())/1e3)
	return nil
}

// BenchmarkLoadOfShadow sets live answers of gateways with candidates against those of one without.
func BenchmarkLoadOfShadow(b *testing.B) {
	r := &run{b: b, program: build(b)}
	roles := loadRoles(fewRoles)
	tree := writeTree(b, roles)
	first, second := newWorld(b, repeated+reserved, assigned, tree, roles), newWorld(b, repeated+reserved, assigned, tree, roles)
	pinClient(b)
	start := func(name string, w *world, args ...string) *shadowed {
		p := r.must(startGateway(b, r.program, w, args...))
		s := &shadowed{name: name, p: p, next: same(w)}
		s.c = newClient(b, p.address, w.request, gatewayYes)
		s.c.tell = func(d time.Duration) { s.took = append(s.took, d) }
		return s
	}
	alone := start("alone", first)
	for _, candidate := range bad {
		beside := start(candidate.name, second, "--shadow-policy-dir", writeCandidate(b, tree, candidate.rule))
		await(b, beside.p, "judges beside")
		alone.p99 = nil
		for _, s := range []*shadowed{alone, beside} {
			if err := s.signal(syscall.SIGSTOP); err != nil {
				b.Fatal(err)
			}
		}
		for turn := range *pairs {
			both := []*shadowed{alone, beside}
			for i := range both {
				if err := both[(turn+i)%2].window(); err != nil {
					b.Fatal(err)
				}
			}
		}
		m := ratioOf(beside.p99, alone.p99)
		t := &tally{}
		fmt.Printf("%s  %.3f  [%.3f, %.3f]  p99 with a candidate, %s: %.0f µs, alone %.0f µs, at most %.2f; %s\n", t.judge(m.median <= shadowLimit),
			m.median, m.low, m.high, candidate.name, medianOf(beside.p99).median, medianOf(alone.p99).median, shadowLimit, shadowTotals(b, beside))
		if err := beside.signal(syscall.SIGKILL); err != nil {
			b.Fatal(err)
		}
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

// shadowTotals are the counts of its outcomes.
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
	var found []string
	for line := range strings.Lines(string(text)) {
		if outcome, ok := strings.CutPrefix(line, "portcullis_shadow_total{outcome="); ok {
			found = append(found, strings.TrimSpace(strings.NewReplacer(`"`, "", "}", "").Replace(outcome)))
		}
	}
	return strings.Join(found, " ")
}
