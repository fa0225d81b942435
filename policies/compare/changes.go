package compare

import (
	"slices"

	"github.com/portcullis-authz/portcullis/policies/engine"
)

// pair are a group of each tree, by their numbers, that are not equal by themselves.
type pair struct {
	of [2]int
	// grants says that nothing is unlike but data.grants.
	grants bool
}

// changes tell where an answer can differ at all. A value is a function of what its group reads and of the values on
// which it rests. So where the trees are told the same, and the unlike groups have equal values, all others have them.
type changes struct {
	t     *table
	pairs []pair
	// every has all pairs, fewer those that count where no role tells the trees apart.
	every, fewer seen
	same         []bool // by what is asked
	asks         map[[3]int]int
}

// seen are pairs, what they read by part, and whether their values are equal there.
type seen struct {
	pairs  []pair
	reads  [parts][]int
	equal  map[[2 * parts]int]bool
	onHeld bool
}

// newChanges finds the unlike groups of both trees.
func (t *table) newChanges() *changes {
	c := &changes{t: t, asks: map[[3]int]int{}}
	var visit func(old, fresh *group)
	visited := map[*group]bool{}
	visit = func(old, fresh *group) {
		if old.print == fresh.print || visited[fresh] {
			return
		}
		visited[fresh] = true
		p := pair{of: [2]int{t.sides[0].index[old], t.sides[1].index[fresh]}}
		below := func(a, b *group) bool { return a.name == b.name }
		switch {
		case old.union || fresh.union || !slices.EqualFunc(old.deps, fresh.deps, below):
			c.pairs = append(c.pairs, p)
			return
		case old.own != fresh.own:
			p.grants = old.ungranted == fresh.ungranted
			c.pairs = append(c.pairs, p)
			if !p.grants {
				return
			}
		}
		for i := range old.deps {
			visit(old.deps[i], fresh.deps[i])
		}
	}
	visit(t.sides[0].rules.groups[t.rule], t.sides[1].rules.groups[t.rule])
	c.every = t.newSeen(c.pairs)
	c.fewer = t.newSeen(slices.DeleteFunc(slices.Clone(c.pairs), func(p pair) bool { return p.grants }))
	for i := range t.asked {
		c.same = append(c.same, t.toldAlike(i))
	}
	return c
}

// newSeen finds what the pairs read, with all that they rest on.
func (t *table) newSeen(pairs []pair) seen {
	s := seen{pairs: pairs, equal: map[[2 * parts]int]bool{}}
	var below [2][]int
	for side, of := range t.sides {
		visited := map[int]bool{}
		var visit func(n int)
		visit = func(n int) {
			if visited[n] {
				return
			}
			visited[n] = true
			below[side] = append(below[side], n)
			for _, dep := range of.order[n].deps {
				visit(of.index[dep])
			}
		}
		for _, p := range pairs {
			s.onHeld = s.onHeld || of.held[p.of[side]]
			visit(p.of[side])
		}
	}
	s.reads = t.project(func(of *side) []int { return below[of.number] }, func(part, int) string { return "" })
	return s
}

// toldAlike says whether both trees are told the same of what is asked, and know it alike.
func (t *table) toldAlike(i int) bool {
	a, at := &t.asked[i], point{asked: i}
	if (a.old == nil) != (a.fresh == nil) || t.leaves(t.sides[0], at, asked) != t.leaves(t.sides[1], at, asked) {
		return false
	}
	if t.entry != engine.EntryDecision {
		return true
	}
	old, unlisted := t.sides[0].rules.set.Unlisted(a.action[0])
	fresh, other := t.sides[1].rules.set.Unlisted(a.action[1])
	return unlisted == other && old == fresh
}

// at says whether the answers can differ at a point, whatever is held there.
func (c *changes) at(at *point) bool {
	if !c.same[at[asked]] {
		return true
	}
	s, which := &c.every, at[asked]
	if c.t.entry == engine.EntryGrantable {
		which = at[grant]
	}
	if c.t.sameRoles[which] {
		s = &c.fewer
	}
	if len(s.pairs) == 0 {
		return false
	}
	var key [2 * parts]int
	reads := numbersOf(&s.reads, at)
	copy(key[:], reads[:])
	if s.onHeld {
		contexts := numbersOf(&c.t.contexts, at)
		copy(key[parts:], contexts[:])
	}
	equal, known := s.equal[key]
	if !known {
		equal = c.t.equal(s, *at)
		s.equal[key] = equal
	}
	return !equal
}

// equal says whether the pairs have equal values at a point, whatever is held there.
func (t *table) equal(s *seen, at point) bool {
	t.next()
	classes := []class{{members: []int{at[holds]}}}
	if s.onHeld {
		classes = t.rank(at)
	}
	for i := range classes {
		at[holds] = classes[i].members[0]
		for _, of := range t.sides {
			of.now[1]++
		}
		for _, p := range s.pairs {
			if t.value(t.sides[0], p.of[0], &at) != t.value(t.sides[1], p.of[1], &at) {
				return false
			}
		}
	}
	return true
}

// count returns how many questions there are at a point, one for each holding.
func (c *changes) count(at *point) (n int) {
	key := [3]int{at[asked], at[grant], 0}
	if c.t.holdsOf(at) != "" {
		key[2] = 1
	}
	n, known := c.asks[key]
	if !known {
		patterns, stands := c.t.lookedUp(at)
		for h := range c.t.holds {
			if c.t.holdable(at, h, patterns, stands) {
				n++
			}
		}
		c.asks[key] = n
	}
	return n
}
