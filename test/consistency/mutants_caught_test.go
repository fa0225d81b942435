//go:build nightly

package consistency_test

import (
	"testing"
	"time"
)

// mutantTime bounds a run of a mutant.
const mutantTime = time.Minute

// TestMutantsAreCaught guarantees that the scenario of each mutant catches it within a minute.
func TestMutantsAreCaught(t *testing.T) {
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			binary := program(t, m.name, m.edits...)
			began := time.Now()
			w, v := m.scenario.run(t, binary, mutantTime)
			if len(v.violations) == 0 {
				t.Errorf("not caught in %s by scenario %q: %d decisions, %d changes", time.Since(began), m.scenario.name, v.judged, v.writes)
				return
			}
			t.Logf("caught in scenario %q after %s with its start-up, %s of history: %d decisions, %d changes; the first of %d violations: %s",
				m.scenario.name, short(time.Since(began)), short(w.h.now()), v.judged, v.writes, v.count, v.violations[0])
		})
	}
}
