package compare_test

import (
	"context"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/proof"
)

// questions are how many random ones are asked at each entry point; those that are to witness what the comparison says
// are so many times as many.
const questions, patience = 800, 6

// outcome is what became of a mutant: it doesn't compile, changes no answer, or was found.
type outcome string

const (
	noTree     outcome = "does not compile"
	equivalent outcome = "changes no answer"
	foundIt    outcome = "found"
	unseen     outcome = "found, and not met by random questions"
)

// examine holds what the comparison says of a mutant against what both trees answer to random questions: each direction
// that these show is in a row, and each direction in a row is one that they show.
func examine(t *testing.T, old *engine.Set, m mutant, patience int) outcome {
	t.Helper()
	src, err := policies.Read(m.tree)
	if err != nil {
		return noTree
	}
	fresh, _, err := proof.Compile(context.Background(), src)
	if err != nil {
		return noTree
	}
	d, err := compare.Compare(t.Context(), old, fresh, 2)
	if err != nil {
		t.Error(err)
		return foundIt
	}
	told := directions(d)
	asked := newAsker(1, old, fresh).directions(t, questions)
	if lacks(asked, told) != "" && len(d.Gaps) == 0 {
		t.Errorf("%s: random questions show %q, the comparison %q", m.name, asked, told)
	}
	if lacks(told, asked) != "" {
		asked = newAsker(2, old, fresh).directions(t, questions*patience)
		if lacks(asked, told) != "" && len(d.Gaps) == 0 {
			t.Errorf("%s: more random questions show %q, the comparison %q", m.name, asked, told)
		}
	}
	t.Logf("%s: told %q, seen %q, %d rows, %d unreachable, %d evaluations, gaps %v", m.name, told, asked, len(d.Rows), len(d.Unreachable), d.Evaluations, d.Gaps)
	switch {
	case told == "" && len(d.Gaps) == 0:
		return equivalent
	case lacks(told, asked) != "":
		return unseen
	}
	return foundIt
}

// lacks are the signs that the other text does not have.
func lacks(signs, other string) (out string) {
	for _, sign := range signs {
		found := false
		for _, o := range other {
			found = found || o == sign
		}
		if !found {
			out += string(sign)
		}
	}
	return out
}

func directions(d *compare.Difference) string {
	found := map[string]bool{}
	for _, row := range d.Rows {
		switch {
		case row.New.Allow && !row.Old.Allow:
			found["+"] = true
		case row.Old.Allow && !row.New.Allow:
			found["-"] = true
		default:
			found["~"] = true
		}
	}
	return signs(found)
}
