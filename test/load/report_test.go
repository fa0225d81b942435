package load_test

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
)

// report prints what was measured. It says what fails its limit, and fails nothing: only on a
// machine that does nothing else are the figures worth a verdict.
func (r *run) report(to io.Writer) {
	load, _ := os.ReadFile("/proc/loadavg") // for the reader, where there is one
	fmt.Fprintf(to, "\n%d pairs of windows of %s, %d connections, %d questions about %d users, %d users in the large account; load average %s\n",
		*pairs, *window, *connections, *asked*perUser, *asked, *large, strings.TrimSpace(string(load)))
	r.servers(to)
	held, limits := r.ratios(to)
	for _, s := range r.starts {
		limits++
		if verdict(s.took <= s.limit) == pass {
			held++
		}
		fmt.Fprintf(to, "%s  ready with %s after %.2f s, at most %s\n", verdict(s.took <= s.limit), s.title, s.took.Seconds(), s.limit)
	}
	if r.growth.of != nil {
		limits++
		if r.growth.report(to) {
			held++
		}
	}
	for _, what := range r.broken {
		limits++
		fmt.Fprintf(to, "%s  %s\n", fail, strings.TrimSpace(what))
	}
	for _, what := range r.skipped {
		fmt.Fprintf(to, "SKIPPED  %s\n", what)
	}
	fmt.Fprintf(to, "%d of %d limits hold, %d parts skipped\n", held, limits, len(r.skipped))
}

func (r *run) servers(to io.Writer) {
	fmt.Fprintln(to, "\nmedian of the windows; p50 and p99 of a single connection; memory at the end")
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "requests/s\tCPU µs/request\tp50 µs\tp99 µs\tMiB\t  \t")
	for _, c := range r.contenders {
		fmt.Fprintf(table, "%.0f\t%.1f\t%d\t%d\t%d\t  %s\n", medianOf(c.rates).median, medianOf(c.costs).median,
			quantile(c.alone, 0.5).Microseconds(), quantile(c.alone, 0.99).Microseconds(), c.p.memory(), c.remark())
	}
	_ = table.Flush()
}

// remark is a server's name, with what makes its figures mean less.
func (c *contender) remark() string {
	name := c.name
	if c.refused > 0 {
		name += fmt.Sprintf(" (%d answers were not 200)", c.refused)
	}
	if c.logLost {
		name += " (lines of its log were dropped)"
	}
	return name
}

func (r *run) ratios(to io.Writer) (held, limits int) {
	fmt.Fprintln(to, "\nratios of CPU per request: median of the pairs, and its interval")
	for _, c := range r.comparisons {
		m := medianOf(c.ratios)
		word, limit := "     ", ""
		if c.limit > 0 {
			limits++
			word, limit = verdict(m.median <= c.limit), fmt.Sprintf(", at most %.3f", c.limit)
			if m.median <= c.limit {
				held++
			}
			if m.low <= c.limit && c.limit < m.high {
				limit += " (inside the interval)"
			}
		}
		kind := "95 %"
		if !m.sure {
			kind = "range"
		}
		fmt.Fprintf(to, "%s  %8.3f  [%.3f, %.3f] %s  %s%s\n", word, m.median, m.low, m.high, kind, c.title, limit)
	}
	return held, limits
}

const (
	pass = "PASS "
	fail = "FAIL "
)

func verdict(holds bool) string {
	if holds {
		return pass
	}
	return fail
}
