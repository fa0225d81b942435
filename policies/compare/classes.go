package compare

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// class is a set of holdings that no rule can tell apart.
type class struct{ members []int }

// rank puts the holdings into classes, where all other parts are those of the point; into none once the context has ended.
func (t *table) rank(at point) []class {
	t.next()
	key := numbersOf(&t.contexts, &at)
	if known, ok := t.classes[key]; ok {
		return known
	}
	var out []class
	found := map[int]int{}
	numbers := t.numbersAt(&at)
	patterns, stands := t.lookedUp(&at)
	for h := range t.holds {
		if t.ctx.Err() != nil {
			return nil
		}
		if !t.holdable(&at, h, patterns, stands) {
			continue
		}
		if numbers[h] == 0 {
			at[holds] = h
			numbers[h] = t.heldNumber(at)
		}
		i, known := found[numbers[h]]
		if !known {
			i = len(out)
			found[numbers[h]] = i
			out = append(out, class{})
		}
		out[i].members = append(out[i].members, h)
	}
	t.classes[key] = out
	return out
}

// numbersAt returns the numbers of what the rules make of each holding at a point; 0 is not yet known. Points that differ
// only in which holdings are of interest share them.
func (t *table) numbersAt(at *point) []int {
	key := numbersOf(&t.around, at)
	if t.numbers[key] == nil {
		t.numbers[key] = make([]int, len(t.holds))
	}
	return t.numbers[key]
}

// heldNumber returns the number of what the rules make of a holding at a point.
func (t *table) heldNumber(at point) int {
	vector := []byte("held ")
	for _, s := range t.sides {
		s.now[1]++
		for n := range s.order {
			if s.direct[n] {
				vector = binary.AppendVarint(vector, int64(t.value(s, n, &at)))
			}
		}
	}
	return t.id(string(vector), nil) + 1
}

// project numbers, by part, what some groups of each tree read of its values, and a text beside.
func (t *table) project(groups func(s *side) []int, besides func(of part, i int) string) (out [parts][]int) {
	for of, size := range [parts]int{asked: len(t.asked), who: len(t.who), where: len(t.where), grant: len(t.grants)} {
		for i := range size {
			var key []byte
			for _, s := range t.sides {
				for _, n := range groups(s) {
					key = binary.AppendVarint(key, int64(s.subs[n][of][i]))
				}
			}
			out[of] = append(out[of], t.id("some "+string(key)+" "+besides(part(of), i), nil))
		}
	}
	return out
}

// besideHoldings returns the other things than what the rules read that count for what they make of a holding.
func (t *table) besideHoldings(of part, i int) string {
	switch of {
	case who:
		return t.holdsOf(&point{who: i})
	case where:
		return t.where[i].target.ProjectID + "\n" + t.where[i].target.Resource
	case grant:
		return fmt.Sprint(t.grants[i].now, t.grants[i].until)
	}
	return ""
}

// ofInterest returns what besideHoldings does, and all that counts for which holdings are of interest.
func (t *table) ofInterest(of part, i int) string {
	switch of {
	case asked:
		return t.asked[i].action[0].ID + " " + t.asked[i].action[1].ID
	case grant:
		return t.besideHoldings(of, i) + " " + strings.Join(t.grants[i].permissions, " ")
	}
	return t.besideHoldings(of, i)
}

// numbersOf returns the numbers of the values at a point.
func numbersOf(of *[parts][]int, at *point) (out [parts]int) {
	for _, p := range [...]part{asked, who, where, grant} {
		out[p] = of[p][at[p]]
	}
	return out
}

// holdsOf says whether the user at a point can hold anything.
func (t *table) holdsOf(at *point) string {
	if w := &t.who[at[who]]; w.subject != nil && w.subject.Member && w.subject.UserID != "" {
		return " holds"
	}
	return ""
}

// holdable says whether the user can hold that, and whether it is of interest for what is asked.
func (t *table) holdable(at *point, h int, patterns []string, stands map[string]string) bool {
	of := &t.holds[h]
	if len(of.held) == 0 {
		return true
	}
	if t.holdsOf(at) == "" {
		return false
	}
	if of.pattern != "" && !slices.Contains(patterns, of.pattern) {
		return false
	}
	return !slices.ContainsFunc(of.system, func(role string) bool { return stands[role] != role })
}
