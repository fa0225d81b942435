//go:build nightly

package compare_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/policytest"
)

// TestMutantsAreFound guarantees that the comparison finds each change of the embedded tree seen by random questions,
// with its direction. Few of the found changes are too rare for random questions.
func TestMutantsAreFound(t *testing.T) {
	tree := policytest.Copy(t, policies.Tree())
	old := compiled(t, tree)
	byKind, counts := map[string][]mutant{}, map[outcome]int{}
	for _, m := range slices.Concat(generated(tree), added(tree)) {
		byKind[m.kind] = append(byKind[m.kind], m)
	}
	whole := 0
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		t.Run(kind, func(t *testing.T) {
			outcomes := map[outcome]int{}
			for _, m := range byKind[kind] {
				o := examine(t, old, m, patience)
				outcomes[o]++
				counts[o]++
			}
			whole++
			t.Logf("%s: %v", kind, outcomes)
		})
	}
	t.Logf("%v", counts)
	if n := counts[foundIt]; whole == len(byKind) && n < 100 {
		t.Errorf("%d mutants were found, which is no table", n)
	}
}

// TestRefactoringsAreNoDifference, in rows, unreachable ones and gaps.
func TestRefactoringsAreNoDifference(t *testing.T) {
	tree := policytest.Copy(t, policies.Tree())
	old := compiled(t, tree)
	for _, m := range refactorings(tree) {
		t.Run(m.name, func(t *testing.T) {
			d, err := compare.Compare(t.Context(), old, compiled(t, m.tree), 2)
			if err != nil || len(d.Rows)+len(d.Unreachable)+len(d.Gaps) > 0 {
				t.Fatalf("%d rows, %d unreachable, gaps %v, %v", len(d.Rows), len(d.Unreachable), d.Gaps, err)
			}
			t.Logf("%d questions, %d evaluations", d.Questions, d.Evaluations)
		})
	}
}
