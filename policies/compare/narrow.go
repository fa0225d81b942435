package compare

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/policies/engine"
)

// narrow merges the values of each part that no rule of either tree can tell apart, and then those that the rules tell apart
// only to come to the same. Their states join. Callers stay apart, since a row names one.
func (t *table) narrow() {
	t.who = pick(t.who, t.keep(who, len(t.who), t.raw, func(i int) string {
		if t.who[i].subject == nil {
			return "none"
		}
		return strings.Join([]string{t.who[i].caller, t.who[i].credential, t.holdsOf(&point{who: i})}, "\n")
	}))
	t.where = pick(t.where, t.keep(where, len(t.where), t.raw, t.targetOf))
	t.who = pick(t.who, t.keep(who, len(t.who), t.made, func(i int) string {
		w := &t.who[i]
		account := "of an account"
		if w.account == "" {
			account = ""
		}
		return strings.Join([]string{w.caller, w.credential, account, t.holdsOf(&point{who: i})}, "\n")
	}))
	t.where = pick(t.where, t.keep(where, len(t.where), t.made, func(i int) string {
		if t.where[i].target.UserID != "" {
			return t.targetOf(i) + "\nof a user"
		}
		return t.targetOf(i)
	}))
}

// targetOf returns what counts of a target beside what the rules read.
func (t *table) targetOf(i int) string {
	target := &t.where[i].target
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
		if slices.ContainsFunc(s.order, func(g *group) bool { return g.reads[subjectHere] }) {
			return true
		}
	}
	return false
}

// keep returns which values of a part stay: the first of those with the same text, and the same number for each group.
func (t *table) keep(of part, size int, number func(s *side, n int, of part, i int) int, besides func(int) string) (kept []int) {
	seen := map[string]int{}
	for i := range size {
		if t.ctx.Err() != nil { // then nobody reads the table
			kept = append(kept, i)
			continue
		}
		var key []byte
		for _, s := range t.sides {
			for n := range s.order {
				key = binary.AppendVarint(key, int64(number(s, n, of, i)))
			}
		}
		text := string(key) + besides(i)
		first, known := seen[text]
		if !known {
			seen[text] = i
			kept = append(kept, i)
			continue
		}
		t.join(of, first, i)
	}
	for _, s := range t.sides {
		for n := range s.order {
			s.subs[n][of] = pick(s.subs[n][of], kept)
		}
	}
	return kept
}

// raw returns the number of what a group reads of a value.
func (t *table) raw(s *side, n int, of part, i int) int { return s.subs[n][of][i] }

// made returns the number of what a group makes of a value if it rests on nothing else, and else of what it reads of the
// value.
func (t *table) made(s *side, n int, of part, i int) int {
	if s.on[n] != of.bit() {
		return t.raw(s, n, of, i)
	}
	var at point
	at[of] = i
	t.next()
	return t.value(s, n, &at)
}

// join adds to the states of a value those of another one that has the same answers.
func (t *table) join(of part, first, i int) {
	add := func(states *[]State, more []State) {
		for _, state := range more {
			if !slices.Contains(*states, state) {
				*states = append(slices.Clone(*states), state)
			}
		}
	}
	switch {
	case of == who && t.who[first].impossible == t.who[i].impossible:
		add(&t.who[first].states, t.who[i].states)
	case of == where:
		add(&t.where[first].states, t.where[i].states)
	}
}

func pick[T any](from []T, kept []int) []T {
	out := make([]T, len(kept))
	for i, at := range kept {
		out[i] = from[at]
	}
	return out
}
