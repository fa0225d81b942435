package load_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// tracingLimit bounds the CPU time with one traced request in a hundred, as a ratio.
const tracingLimit = 1.03

// collector receives spans, and counts their bytes.
type collector struct {
	*httptest.Server
	bytes atomic.Int64
}

func newCollector(b *testing.B) *collector {
	b.Helper()
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body) // count also a part
		c.bytes.Add(n)
	}))
	b.Cleanup(c.Close)
	return c
}

// BenchmarkLoadOfTracing compares warm calls of gateways with tracing of one request in a hundred, and of all, to those
// of one without tracing. A second one without tracing shows the noise.
func BenchmarkLoadOfTracing(b *testing.B) {
	r := &run{b: b, program: build(b)}
	roles := loadRoles(fewRoles)
	tree := writeTree(b, roles)
	worlds := make([]*world, 4) // each gateway needs a data folder of its own
	for i := range worlds {
		worlds[i] = newWorld(b, repeated, assigned, tree, roles)
	}
	pinClient(b)
	seen := newCollector(b)
	var cells []*cell
	for i, w := range worlds {
		name := []string{"off", "off again", "1 %", "100 %"}[i]
		if share := []string{"", "", "0.01", "1"}[i]; share != "" { // for the gateways from here on
			b.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", seen.URL)
			b.Setenv("OTEL_TRACES_SAMPLER", "traceidratio")
			b.Setenv("OTEL_TRACES_SAMPLER_ARG", share)
		}
		cells = append(cells, &cell{server: r.gateway("tracing "+name, w, again(w)), next: same(w)})
	}
	if err := (&group{title: "tracing", cells: cells, warm: 4 * repeated}).measure(); err != nil {
		b.Fatal(err)
	}
	off, t := cells[0], &tally{}
	fmt.Printf("\n%s: %.1f µs of CPU a warm request, %.1f allocations\n", off.name, medianOf(off.costs).median, allocated(b, off).median)
	for _, c := range cells[1:] {
		m, verdict := ratioOf(c.costs, off.costs), ""
		if c == cells[2] {
			verdict = fmt.Sprintf(", at most %.2f: %s", tracingLimit, t.judge(m.median <= tracingLimit))
		}
		fmt.Printf("%s: %.1f µs, %.1f allocations; %.3f [%.3f, %.3f] of off%s\n",
			c.name, medianOf(c.costs).median, allocated(b, c).median, m.median, m.low, m.high, verdict)
	}
	if seen.bytes.Load() == 0 {
		b.Error("no span was exported")
	}
}

// allocated returns a gateway's allocations for a warm request on one connection.
func allocated(b *testing.B, c *cell) interval {
	b.Helper()
	all := make([]float64, *pairs)
	for i := range all {
		var err error
		if all[i], err = c.allocations(1); err != nil {
			b.Fatal(err)
		}
	}
	return medianOf(all)
}
