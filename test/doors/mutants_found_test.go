//go:build nightly

package doors_test

import (
	"math/rand/v2"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/overlay"
)

// someQuestions are enough for a mutant: each kind is among them.
const someQuestions = 600

// TestMutantsAreFoundOut by the corpus, or as a fault.
func TestMutantsAreFoundOut(t *testing.T) {
	whole := harness.Binary
	t.Cleanup(func() { harness.Binary = whole })
	builder := overlay.NewBuilder("../..", t.TempDir())
	for _, m := range mutants() {
		t.Run(m.name, func(t *testing.T) {
			harness.Binary = builder.Program(t, m.name, m.edits...)
			random := rand.New(rand.NewPCG(seed, seed))
			w := newWorld(t, random)
			for _, fault := range w.faults(t) {
				t.Logf("found out: %.300s", fault)
				return
			}
			questions := w.questions(random, someQuestions)
			e3 := doors()[0].ask(t, w, questions)
			calls := w.ofCalls(t, questions, e3)
			for _, d := range doors()[1:] {
				if d.slow {
					continue
				}
				some, want := d.chosen(questions, e3, calls)
				if names := differences(d.name, some, want, d.ask(t, w, some)); len(names) > 0 {
					t.Logf("found out; the first of %d: %.300s", len(names), names[0])
					return
				}
			}
			t.Error("not found out")
		})
	}
}
