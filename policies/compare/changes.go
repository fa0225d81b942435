package compare

import (
	"slices"

	"github.com/portcullis-authz/portcullis/policies/engine"
)

// pair is a node of each tree; their groups differ by themselves: in text, data or the names of their dependencies.
type pair struct {
	nodes [2]*node
	// onlyGrants says that only data.grants differs.
	onlyGrants bool
}

// changes finds the points at which answers can differ. A value is a function of the group's inputs and dependencies.
// If both trees get the same request, and all changed groups have equal values, then all other groups do.
type changes struct {
	t *table
	// every has all pairs. fewer lacks those with onlyGrants; it suffices at points with sameRoles.
	every, fewer pairSet
	sameRequest  []bool // by request
	// counts cache countQuestions.
	counts map[[3]int]int
}

// pairSet has pairs, the numbers of what they read by part, and cached results of comparing their values.
type pairSet struct {
	pairs  []pair
	reads  [parts][]int
	equal  map[[2 * parts]int]bool
	onHeld bool
}

// newChanges finds the changed groups, from the root down.
func (t *table) newChanges() *changes {
	c := &changes{t: t, counts: map[[3]int]int{}}
	var pairs []pair
	var visit func(old, next *group)
	visited := map[*group]bool{}
	visit = func(old, next *group) {
		if old.print == next.print || visited[next] {
			return
		}
		visited[next] = true
		p := pair{nodes: [2]*node{t.nodeOf[old], t.nodeOf[next]}}
		below := func(a, b *group) bool { return a.name == b.name }
		switch {
		case old.union || next.union || !slices.EqualFunc(old.deps, next.deps, below):
			pairs = append(pairs, p)
			return
		case old.ownPrint != next.ownPrint:
			p.onlyGrants = old.ungrantedPrint == next.ungrantedPrint
			pairs = append(pairs, p)
			if !p.onlyGrants {
				return
			}
		}
		for i := range old.deps {
			visit(old.deps[i], next.deps[i])
		}
	}
	visit(t.roots[0].group, t.roots[1].group)
	c.every = t.newPairSet(pairs)
	c.fewer = t.newPairSet(slices.DeleteFunc(slices.Clone(pairs), func(p pair) bool { return p.onlyGrants }))
	for i := range t.requests {
		c.sameRequest = append(c.sameRequest, t.isSameRequest(i))
	}
	return c
}

// newPairSet numbers what the pairs and their dependencies read.
func (t *table) newPairSet(pairs []pair) pairSet {
	s := pairSet{pairs: pairs, equal: map[[2 * parts]int]bool{}}
	var changed []*group
	for _, p := range pairs {
		for _, n := range p.nodes {
			s.onHeld = s.onHeld || n.dependsOn.has(holdingPart)
			changed = append(changed, n.group)
		}
	}
	s.reads = t.projectReads(t.nodesOf(changed), func(part, int) string { return "" })
	return s
}

// isSameRequest says whether both trees get the same request, and agree on whether its action is listed.
func (t *table) isSameRequest(i int) bool {
	a, pt := &t.requests[i], point{requestPart: i}
	if (a.routes[0] == nil) != (a.routes[1] == nil) || !slices.Equal(t.rowNumbers(0, pt, requestPart), t.rowNumbers(1, pt, requestPart)) {
		return false
	}
	if t.entry != engine.EntryDecision {
		return true
	}
	old, unlisted := t.rules[0].set.Unlisted(a.action[0])
	next, other := t.rules[1].set.Unlisted(a.action[1])
	return unlisted == other && old == next
}

// canDiffer says whether answers can differ at a point with any holding.
func (c *changes) canDiffer(pt *point) bool {
	if !c.sameRequest[pt[requestPart]] {
		return true
	}
	s := &c.every
	if c.t.sameRoles[pt[c.t.lookupPart()]] {
		s = &c.fewer
	}
	if len(s.pairs) == 0 {
		return false
	}
	var key [2 * parts]int
	reads := pointKey(&s.reads, pt)
	copy(key[:], reads[:])
	if s.onHeld {
		contexts := pointKey(&c.t.classKeys, pt)
		copy(key[parts:], contexts[:])
	}
	equal, ok := s.equal[key]
	if !ok {
		equal = c.t.equal(s, *pt)
		s.equal[key] = equal
	}
	return !equal
}

// equal says whether all pairs have equal values at a point with every holding.
func (t *table) equal(s *pairSet, pt point) bool {
	t.reset()
	classes := []class{{members: []int{pt[holdingPart]}}}
	if s.onHeld {
		classes = t.classify(pt)
	}
	for i := range classes {
		pt[holdingPart] = classes[i].members[0]
		t.epoch[1]++
		for _, p := range s.pairs {
			if t.value(p.nodes[0], &pt) != t.value(p.nodes[1], &pt) {
				return false
			}
		}
	}
	return true
}

// countQuestions returns the number of questions at a point, one per holding.
func (c *changes) countQuestions(pt *point) (n int) {
	key := [3]int{pt[requestPart], pt[grantPart], 0}
	if c.t.persons[pt[personPart]].canHold() {
		key[2] = 1
	}
	n, ok := c.counts[key]
	if !ok {
		patterns, roleOf := c.t.lookups(pt)
		for h := range c.t.holdings {
			if c.t.holdable(pt, h, patterns, roleOf) {
				n++
			}
		}
		c.counts[key] = n
	}
	return n
}
