package load_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
)

// allocations has a gateway's allocations for each request, on one connection and on all.
type allocations struct {
	cell            *cell // nil without a measurement
	alone, together []float64
}

// allocationsLimit bounds the ratio of allocations on all connections to those on one. It leaves room for the few
// allocations of the runtime.
const allocationsLimit = 1.02

var mallocsLine = regexp.MustCompile(`(?m)^go_memstats_mallocs_total (\S+)$`)

// mallocs returns the number of a gateway's allocations since its start.
func (p *process) mallocs() (float64, error) {
	answer, err := http.Get("http://" + p.health + "/metrics")
	if err != nil {
		return 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err
	}
	m := mallocsLine.FindSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("the metrics have no go_memstats_mallocs_total")
	}
	return strconv.ParseFloat(string(m[1]), 64)
}

// allocations returns the allocations for each request in one window, without those for reading the metrics.
func (c *cell) allocations(connections int) (float64, error) {
	var counts [3]float64
	requests := 0
	for i := range counts {
		var err error
		if counts[i], err = c.p.mallocs(); err != nil {
			return 0, err
		}
		if i != 1 {
			continue
		}
		h, err := c.run(connections, c.next, until(0))
		if err != nil {
			return 0, err
		}
		requests = max(h.requests, 1)
	}
	return ((counts[2] - counts[1]) - (counts[1] - counts[0])) / float64(requests), nil
}

// measure measures one connection and all connections in turns.
func (g *allocations) measure() error {
	if g.cell == nil {
		return nil
	}
	for range *pairs {
		one, err := g.cell.allocations(1)
		if err != nil {
			return err
		}
		all, err := g.cell.allocations(*connections)
		if err != nil {
			return err
		}
		g.alone, g.together = append(g.alone, one), append(g.together, all)
	}
	return nil
}

func (g *allocations) report(out io.Writer, t *tally) {
	if g.cell == nil {
		return
	}
	one, all := medianOf(g.alone).median, medianOf(g.together).median
	fmt.Fprintf(out, "%s  %.1f allocations a warm request on %d connections, %.1f on one: at most %.2f times as many\n",
		t.judge(all <= one*allocationsLimit), all, *connections, one, allocationsLimit)
}
