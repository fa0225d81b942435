package compare

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/policies/engine"
)

// narrow merges the values of each part that no rule of either tree can tell apart, and then those that the rules tell apart
// only to come to the same. Their states join. Callers stay apart, since a row names one.
func (t *table) mergeValues() {
	t.persons = selected(t.persons, t.mergePart(personPart, len(t.persons), t.readNumber, func(i int) string {
		if t.persons[i].subject == nil {
			return "none"
		}
		return strings.Join([]string{t.persons[i].caller, t.persons[i].credential, t.canHold(&point{personPart: i})}, "\n")
	}))
	t.targets = selected(t.targets, t.mergePart(targetPart, len(t.targets), t.readNumber, t.targetText))
	t.persons = selected(t.persons, t.mergePart(personPart, len(t.persons), t.valueNumber, func(i int) string {
		w := &t.persons[i]
		account := "of an account"
		if w.account == "" {
			account = ""
		}
		return strings.Join([]string{w.caller, w.credential, account, t.canHold(&point{personPart: i})}, "\n")
	}))
	t.targets = selected(t.targets, t.mergePart(targetPart, len(t.targets), t.valueNumber, func(i int) string {
		if t.targets[i].target.UserID != "" {
			return t.targetText(i) + "\nof a user"
		}
		return t.targetText(i)
	}))
}

// targetOf returns what counts of a target beside what the rules read.
func (t *table) targetText(i int) string {
	target := &t.targets[i].target
	switch {
	case t.entry == engine.EntryDecision && !t.readsHere():
		return ""
	case t.entry == engine.EntryDecision:
		return target.ProjectID + "\n" + target.Resource
	}
	return strings.Join([]string{target.AccountID, target.ProjectID, target.Resource, target.UserID}, "\n")
}

func (t *table) readsHere() bool {
	for _, s := range t.sides {
		if slices.ContainsFunc(s.groups, func(g *group) bool { return g.reads[subjectHere] }) {
			return true
		}
	}
	return false
}

// keep returns which values of a part stay: the first of those with the same text, and the same number for each group.
func (t *table) mergePart(part part, size int, number func(s *side, n int, part part, i int) int, besides func(int) string) (kept []int) {
	seen := map[string]int{}
	for i := range size {
		if t.ctx.Err() != nil { // then nobody reads the table
			kept = append(kept, i)
			continue
		}
		var key []byte
		for _, s := range t.sides {
			for n := range s.groups {
				key = binary.AppendVarint(key, int64(number(s, n, part, i)))
			}
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
	for _, s := range t.sides {
		for n := range s.groups {
			s.reads[n][part] = selected(s.reads[n][part], kept)
		}
	}
	return kept
}

// raw returns the number of what a group reads of a value.
func (t *table) readNumber(s *side, n int, part part, i int) int { return s.reads[n][part][i] }

// made returns the number of what a group makes of a value if it rests on nothing else, and else of what it reads of the
// value.
func (t *table) valueNumber(s *side, n int, part part, i int) int {
	if s.dependsOn[n] != part.bit() {
		return t.readNumber(s, n, part, i)
	}
	var pt point
	pt[part] = i
	t.reset()
	return t.value(s, n, &pt)
}

// join adds to the states of a value those of another one that has the same answers.
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

func selected[T any](all []T, kept []int) []T {
	out := make([]T, len(kept))
	for i, index := range kept {
		out[i] = all[index]
	}
	return out
}
