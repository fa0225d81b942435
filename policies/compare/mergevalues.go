package compare

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/policies/engine"
)

// mergeValues merges persons and targets that no rule of either tree can distinguish: rules without other inputs have equal
// values, and all others read the same. A merged value has the states of all its sources. Persons with different callers
// stay apart, since a row names its caller.
func (t *table) mergeValues() {
	t.persons = selected(t.persons, t.mergePart(personPart, func(i int) string {
		w := &t.persons[i]
		return fmt.Sprint(w.caller, "\n", w.credential, "\n", w.account == "", w.canHold())
	}))
	t.targets = selected(t.targets, t.mergePart(targetPart, t.targetText))
}

// targetText returns what the engine and the holdings use of a target beside the inputs of the rules.
func (t *table) targetText(i int) string {
	target := &t.targets[i].target
	if t.entry == engine.EntryDecision {
		return fmt.Sprint(target.ProjectID, "\n", target.Resource, "\n", t.readsUser && target.UserID != "")
	}
	return strings.Join([]string{target.AccountID, target.ProjectID, target.Resource, target.UserID}, "\n")
}

// mergePart merges the values of a part with the same text and the same number for each group. It returns the first of
// each.
func (t *table) mergePart(part part, besides func(int) string) (kept []int) {
	seen := map[string]int{}
	for i := range t.sizes()[part] {
		if t.ctx.Err() != nil { // then the table is discarded
			kept = append(kept, i)
			continue
		}
		var pt point
		pt[part] = i
		t.reset()
		var key []byte
		for _, n := range t.nodes {
			number := n.reads[part][i]
			if n.dependsOn == part.bit() {
				number = t.value(n, &pt)
			}
			key = binary.AppendVarint(key, int64(number))
		}
		text := string(key) + besides(i)
		first, ok := seen[text]
		if !ok {
			seen[text] = i
			kept = append(kept, i)
			continue
		}
		t.joinStates(part, first, i)
	}
	for _, n := range t.nodes {
		n.reads[part] = selected(n.reads[part], kept)
	}
	return kept
}

// joinStates adds the states of a merged value to the first value.
func (t *table) joinStates(part part, first, i int) {
	add := func(states *[]State, more []State) {
		for _, state := range more {
			if !slices.Contains(*states, state) {
				*states = append(slices.Clone(*states), state)
			}
		}
	}
	switch {
	case part == personPart && t.persons[first].impossible == t.persons[i].impossible:
		add(&t.persons[first].states, t.persons[i].states)
	case part == targetPart:
		add(&t.targets[first].states, t.targets[i].states)
	}
}

// selected returns the elements at the kept indexes.
func selected[T any](all []T, kept []int) []T {
	out := make([]T, len(kept))
	for i, index := range kept {
		out[i] = all[index]
	}
	return out
}
