package load_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
)

// allocations are what a gateway allocates for each request on one connection and on all of them.
type allocations struct {
	of              *cell // nil where none is measured
	alone, together []float64
}

// allocationsLimit is how many times the one the other may be at most: what is left to chance is
// the few allocations of the runtime.
const allocationsLimit = 1.02

var mallocsLine = regexp.MustCompile(`(?m)^go_memstats_mallocs_total (\S+)$`)

// mallocs is how often a gateway has allocated since its start.
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

// allocations are those of a request in one window, without those of asking for them.
func (c *cell) allocations(connections int) (float64, error) {
	var at [3]float64
	requests := 0
	for i := range at {
		var err error
		if at[i], err = c.p.mallocs(); err != nil {
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
	return ((at[2] - at[1]) - (at[1] - at[0])) / float64(requests), nil
}

// measure measures both in turns.
func (g *allocations) measure() error {
	if g.of == nil {
		return nil
	}
	for range *pairs {
		one, err := g.of.allocations(1)
		if err != nil {
			return err
		}
		all, err := g.of.allocations(*connections)
		if err != nil {
			return err
		}
		g.alone, g.together = append(g.alone, one), append(g.together, all)
	}
	return nil
}

func (g *allocations) report(to io.Writer, t *tally) {
	if g.of == nil {
		return
	}
	one, all := medianOf(g.alone).median, medianOf(g.together).median
	fmt.Fprintf(to, "%s  %.1f allocations a warm request on %d connections, %.1f on one: at most %.2f times as many\n",
		t.judge(all <= one*allocationsLimit), all, *connections, one, allocationsLimit)
}
