package load_test

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

// tally counts limits, and those that hold.
type tally struct{ held, limits int }

// judge counts a limit, and returns PASS or FAIL.
func (t *tally) judge(holds bool) string {
	t.limits++
	if !holds {
		return "FAIL"
	}
	t.held++
	return "PASS"
}

// report prints the figures. A missed limit does not fail the benchmark: only figures from an idle machine are
// reliable.
func (r *run) report(out io.Writer) {
	load, _ := os.ReadFile("/proc/loadavg") // empty without /proc
	fmt.Fprintf(out, "\n%d windows of %s of each server, %d connections, %d users, %d of them known; load average %s\n",
		*pairs, *window, *connections, *large, *knownUsers, strings.TrimSpace(string(load)))
	kind := medianOf(make([]float64, *pairs)).sure
	fmt.Fprintf(out, "medians, and in brackets the %s of the ratio to the bare handler in the same turn\n\n",
		map[bool]string{true: "95 % interval", false: "range"}[kind])
	t := &tally{}
	r.reportTraffic(out, t)
	for _, g := range r.growth {
		m := g.ratio()
		fmt.Fprintf(out, "%s  %.3f  [%.3f, %.3f]  %s, at most %.2f\n", t.judge(m.median <= g.limit), m.median, m.low, m.high, g.title, g.limit)
	}
	for _, s := range r.starts {
		fmt.Fprintf(out, "%s  ready with %s after %.2f s, at most %s\n", t.judge(s.took <= s.limit), s.title, s.took.Seconds(), s.limit)
	}
	r.allocations.report(out, t)
	for _, text := range r.broken {
		fmt.Fprintf(out, "%s  %s\n", t.judge(false), strings.TrimSpace(text))
	}
	for _, s := range r.servers {
		s.remark(out)
	}
	for _, text := range r.skipped {
		fmt.Fprintf(out, "SKIPPED  %s\n", text)
	}
	fmt.Fprintf(out, "%d of %d limits hold, %d parts skipped\n", t.held, t.limits, len(r.skipped))
}

// reportTraffic prints a table with the cost of each server for each kind of traffic, with its ratios to the bare
// handler and to OPA's server.
func (r *run) reportTraffic(out io.Writer, t *tally) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\tCPU µs a request\t× bare\t\tOPA = 10\tlimit")
	for _, g := range r.traffic {
		bare, opa := g.cells[1], g.cells[slices.IndexFunc(g.cells, func(c *cell) bool { return c.name == opaServer })]
		fmt.Fprintf(table, "%s\t\t\t\t\t\n", g.title)
		for i, c := range g.cells {
			m, limit := ratioOf(c.costs, bare.costs), ""
			if i == 0 && g.limit > 0 {
				limit = fmt.Sprintf("%s: × bare at most %.1f", t.judge(m.median <= g.limit), g.limit)
			}
			fmt.Fprintf(table, "  %s\t%.1f\t%.2f\t[%.2f, %.2f]\t%.1f\t%s\n", c.name, medianOf(c.costs).median,
				m.median, m.low, m.high, 10*ratioOf(c.costs, opa.costs).median, limit)
		}
	}
	_ = table.Flush()
	fmt.Fprintln(out)
}

// remark prints answers other than 200 and lost lines of the log: they make a server's figures less reliable.
func (s *server) remark(out io.Writer) {
	if s.refused > 0 {
		fmt.Fprintf(out, "NOTE  %s: %d answers were not 200\n", s.name, s.refused)
	}
	if s.logLost {
		fmt.Fprintf(out, "NOTE  %s: lines of its log were dropped\n", s.name)
	}
}
