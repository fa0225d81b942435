package load_test

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

// tally counts the limits that hold.
type tally struct{ held, limits int }

// judge is the word for a limit.
func (t *tally) judge(holds bool) string {
	t.limits++
	if !holds {
		return "FAIL"
	}
	t.held++
	return "PASS"
}

// report prints what was measured. It says what fails its limit, and fails nothing: only on a
// machine that does nothing else are the figures worth a verdict.
func (r *run) report(to io.Writer) {
	load, _ := os.ReadFile("/proc/loadavg") // for the reader, where there is one
	fmt.Fprintf(to, "\n%d windows of %s of each server, %d connections, %d users, %d of them known; load average %s\n",
		*pairs, *window, *connections, *large, *known, strings.TrimSpace(string(load)))
	kind := medianOf(make([]float64, *pairs)).sure
	fmt.Fprintf(to, "medians, and in brackets the %s of the ratio to the bare handler in the same turn\n\n",
		map[bool]string{true: "95 % interval", false: "range"}[kind])
	t := &tally{}
	r.reportTraffic(to, t)
	for _, g := range r.growth {
		m := g.ratio()
		fmt.Fprintf(to, "%s  %.3f  [%.3f, %.3f]  %s, at most %.2f\n", t.judge(m.median <= g.limit), m.median, m.low, m.high, g.title, g.limit)
	}
	for _, s := range r.starts {
		fmt.Fprintf(to, "%s  ready with %s after %.2f s, at most %s\n", t.judge(s.took <= s.limit), s.title, s.took.Seconds(), s.limit)
	}
	r.allocations.report(to, t)
	for _, what := range r.broken {
		fmt.Fprintf(to, "%s  %s\n", t.judge(false), strings.TrimSpace(what))
	}
	for _, s := range r.servers {
		s.remark(to)
	}
	for _, what := range r.skipped {
		fmt.Fprintf(to, "SKIPPED  %s\n", what)
	}
	fmt.Fprintf(to, "%d of %d limits hold, %d parts skipped\n", t.held, t.limits, len(r.skipped))
}

// reportTraffic prints the table: each server's cost of each kind of traffic, beside the bare
// handler's and, where OPA's server is 10, beside that.
func (r *run) reportTraffic(to io.Writer, t *tally) {
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
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
	fmt.Fprintln(to)
}

// remark tells what makes a server's figures mean less.
func (s *server) remark(to io.Writer) {
	if s.refused > 0 {
		fmt.Fprintf(to, "NOTE  %s: %d answers were not 200\n", s.name, s.refused)
	}
	if s.logLost {
		fmt.Fprintf(to, "NOTE  %s: lines of its log were dropped\n", s.name)
	}
}
