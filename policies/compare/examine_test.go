package compare_test

import (
	"context"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/proof"
)

// questions is the number of random questions per entry point. patience multiplies it when the test confirms a row.
const questions, patience = 800, 6

// outcome is the outcome of a mutant: it does not compile, changes no answer, or was found.
type outcome string

const (
	noTree     outcome = "does not compile"
	equivalent outcome = "changes no answer"
	foundIt    outcome = "found"
	unseen     outcome = "found, and not met by random questions"
)

// examine checks the comparison of a mutant against random questions. Both must show the same directions.
func examine(t *testing.T, old *engine.Set, m mutant, patience int) outcome {
	t.Helper()
	src, err := policies.Read(m.tree)
	if err != nil {
		return noTree
	}
	next, _, err := proof.Compile(context.Background(), src)
	if err != nil {
		return noTree
	}
	d, err := compare.Compare(t.Context(), old, next, 2)
	if err != nil {
		t.Error(err)
		return foundIt
	}
	reported := directions(d)
	asked := newAsker(1, old, next).directions(t, questions)
	if lacks(asked, reported) != "" && len(d.Gaps) == 0 {
		t.Errorf("%s: random questions show %q, the comparison %q", m.name, asked, reported)
	}
	if lacks(reported, asked) != "" {
		asked = newAsker(2, old, next).directions(t, questions*patience)
		if lacks(asked, reported) != "" && len(d.Gaps) == 0 {
			t.Errorf("%s: more random questions show %q, the comparison %q", m.name, asked, reported)
		}
	}
	t.Logf("%s: told %q, seen %q, %d rows, %d unreachable, %d evaluations, gaps %v", m.name, reported, asked, len(d.Rows), len(d.Unreachable), d.Evaluations, d.Gaps)
	switch {
	case reported == "" && len(d.Gaps) == 0:
		return equivalent
	case lacks(reported, asked) != "":
		return unseen
	}
	return foundIt
}

// lacks returns the signs that the other text does not have.
func lacks(signs, other string) (out string) {
	for _, sign := range signs {
		hasGap := false
		for _, o := range other {
			hasGap = hasGap || o == sign
		}
		if !hasGap {
			out += string(sign)
		}
	}
	return out
}

func directions(d *compare.Difference) string {
	seen := map[string]bool{}
	for _, row := range d.Rows {
		switch {
		case row.New.Allow && !row.Old.Allow:
			seen["+"] = true
		case row.Old.Allow && !row.New.Allow:
			seen["-"] = true
		default:
			seen["~"] = true
		}
	}
	return signs(seen)
}
