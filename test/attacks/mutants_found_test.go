//go:build nightly

package attacks_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
)

// TestMutantsAreFoundOut by the cases of the class whose defence they lack.
func TestMutantsAreFoundOut(t *testing.T) {
	for _, m := range mutants {
		t.Run(m.class+"/"+m.name, func(t *testing.T) {
			i := slices.IndexFunc(classes, func(c class) bool { return c.name == m.class })
			w := classes[i].world(t, builder.Program(t, m.name, m.overlay()...))
			r := &refusals{w: w}
			w.t = afterwards{t, r}
			done := make(chan struct{})
			go func() {
				defer close(done)
				classes[i].run(w, r)
				r.searchOutput()
			}()
			<-done
			if len(r.names) == 0 {
				t.Fatalf("not found out by %d cases", r.cases)
			}
			t.Logf("found out; the first of %d: %.200s", len(r.names), r.names[0])
		})
	}
}

// afterwards is a test in a world an attack may have broken: a failure in it counts as found, too.
type afterwards struct {
	testing.TB
	r *refusals
}

// Fatalf implements testing.TB.
func (a afterwards) Fatalf(format string, args ...any) {
	a.r.fault("nothing stands any more: %s", fmt.Sprintf(format, args...))
	runtime.Goexit()
}
