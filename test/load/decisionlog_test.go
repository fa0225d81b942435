package load_test

import (
	"fmt"
	"testing"
)

// decisionLogLimit bounds the CPU time with a decision log in its mode best-effort, as a ratio.
const decisionLogLimit = 1.15

// BenchmarkLoadOfDecisionLog compares warm calls of a gateway with a decision log to those of one without. A second one
// without shows the noise.
func BenchmarkLoadOfDecisionLog(b *testing.B) {
	r := &run{b: b, program: build(b)}
	roles := loadRoles(fewRoles)
	tree := writeTree(b, roles)
	names := []string{"off", "off again", "best-effort"}
	worlds := make([]*world, len(names)) // each gateway needs a data folder of its own
	for i := range worlds {
		worlds[i] = newWorld(b, repeated, assigned, tree, roles)
	}
	pinClient(b)
	var cells []*cell
	for i, w := range worlds {
		mode := []string{"off", "off", "best-effort"}[i]
		cells = append(cells, &cell{server: r.gateway("decision log "+names[i], w, again(w), "--decision-log", mode), next: same(w)})
	}
	if err := (&group{title: "decision log", cells: cells, warm: len(cells) * repeated}).measure(); err != nil {
		b.Fatal(err)
	}
	off, t := cells[0], &tally{}
	fmt.Printf("\n%s: %.1f µs of CPU a warm request\n", off.name, medianOf(off.costs).median)
	for _, c := range cells[1:] {
		m, verdict := ratioOf(c.costs, off.costs), ""
		if c == cells[2] {
			verdict = fmt.Sprintf(", at most %.2f: %s", decisionLogLimit, t.judge(m.median <= decisionLogLimit))
		}
		fmt.Printf("%s: %.1f µs; %.3f [%.3f, %.3f] of off%s\n", c.name, medianOf(c.costs).median, m.median, m.low, m.high, verdict)
	}
}
