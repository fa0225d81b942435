package consistency_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// report prints the figures of a run, and fails the test on a violation.
func (w *world) report(v *verdict) {
	w.t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%d decisions judged (%d of them strict), %d changes (%d of unknown outcome), %d questions not decided (503 or no answer)\n",
		v.judged, v.strict, v.writes, v.unknown, w.h.undecided)
	fmt.Fprintf(&b, "stale allows %d, stale denies %d, violations in all %d\n", v.staleAllows, v.staleDenies, v.count)
	w.figures(&b, slices.Sorted(maps.Keys(w.h.waits))...)
	w.t.Log("\n" + b.String())
	w.must(v)
}

func short(d time.Duration) string { return d.Round(100 * time.Microsecond).String() }
