//go:build mutants

package attacks_test

import (
	"slices"
	"testing"
)

// TestMutantsAreFoundOut by the cases of the class whose defence they lack.
func TestMutantsAreFoundOut(t *testing.T) {
	for _, m := range mutants {
		t.Run(m.class+"/"+m.name, func(t *testing.T) {
			i := slices.IndexFunc(classes, func(c class) bool { return c.name == m.class })
			r := classes[i].against(t, builder.Program(t, m.name, m.overlay()...))
			if len(r.found) == 0 {
				t.Fatalf("not found out by %d cases", r.cases)
			}
			t.Logf("found out; the first of %d: %.200s", len(r.found), r.found[0])
		})
	}
}
