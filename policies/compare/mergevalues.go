package compare

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/policies/engine"
)

// mergeValues merges persons and targets that no rule of either tree can distinguish. It first merges those with equal
// inputs, then those with equal values of all rules without other inputs. A merged value has the states of all its
// sources. Persons with different callers stay apart, since a row names its caller.
func (t *table) mergeValues() {
	personText := func(i int) string {
		w := &t.persons[i]
		return fmt.Sprint(w.caller, "\n", w.credential, "\n", w.account == "", w.canHold())
	}
	t.persons = selected(t.persons, t.mergePart(personPart, len(t.persons), t.readNumber, personText))
	t.targets = selected(t.targets, t.mergePart(targetPart, len(t.targets), t.readNumber, t.targetText))
	t.persons = selected(t.persons, t.mergePart(personPart, len(t.persons), t.valueNumber, personText))
	t.targets = selected(t.targets, t.mergePart(targetPart, len(t.targets), t.valueNumber, func(i int) string {
		if t.targets[i].target.UserID != "" {
			return t.targetText(i) + "\nof a user"
		}
		return t.targetText(i)
	}))
}

// targetText returns what the engine and the holdings use of a target beside the inputs of the rules.
func (t *table) targetText(i int) string {
	target := &t.targets[i].target
	switch {
	case t.entry == engine.EntryDecision && !t.readsHere:
		return ""
	case t.entry == engine.EntryDecision:
		return target.ProjectID + "\n" + target.Resource
	}
	return strings.Join([]string{target.AccountID, target.ProjectID, target.Resource, target.UserID}, "\n")
}

// mergePart merges the values of a part with the same text and the same number for each group. It returns the first of
// each.
func (t *table) mergePart(part part, size int, number func(n *node, part part, i int) int, besides func(int) string) (kept []int) {
	seen := map[string]int{}
	for i := range size {
		if t.ctx.Err() != nil { // then the table is discarded
			kept = append(kept, i)
			continue
		}
		var key []byte
		for _, n := range t.nodes {
			key = binary.AppendVarint(key, int64(number(n, part, i)))
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

// readNumber returns the number of what a group reads of a value.
func (t *table) readNumber(n *node, part part, i int) int { return n.reads[part][i] }

// valueNumber returns the number of a group's value if the group depends on this part alone. Otherwise it returns
// readNumber.
func (t *table) valueNumber(n *node, part part, i int) int {
	if n.dependsOn != part.bit() {
		return t.readNumber(n, part, i)
	}
	var pt point
	pt[part] = i
	t.reset()
	return t.value(n, &pt)
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
