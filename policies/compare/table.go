package compare

import (
	"context"
	"encoding/binary"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/question"
	"github.com/portcullis-authz/portcullis/resources"
)

// evaluationLimit is the timeout of one evaluation. It is long, because a timeout on a busy machine would look like a
// difference.
const evaluationLimit = 10 * time.Second

// point is one question: the index of a value for each part.
type point [parts]int

// table is all questions at one root, with cached values of the rules of both trees. It numbers values and texts, so
// the enumeration compares numbers.
type table struct {
	ctx context.Context
	root
	requests []request
	persons  []person
	targets  []target
	holdings []holding
	grants   []grantCase
	// roleOf has, for each request or grant, the representative of each system role. sameRoles says whether no role
	// differs between the trees there.
	roleOf    []map[string]string
	sameRoles []bool
	// classKeys number, by part, everything that determines the classes of holdings.
	classKeys [parts][]int
	// closed has the requests with a route that one tree alone makes public, and denies to some.
	closed map[int]bool
	// rules are those of the two trees. nodes are all nodes of both, each after those below it; roots are the root's.
	rules  [2]*rules
	nodes  []*node
	roots  [2]*node
	nodeOf map[*group]*node
	// holders are the nodes that read the holding themselves, and those below them.
	holders []*node
	ids     map[string]int // of values and texts
	values  []ast.Value
	texts   []string
	classes map[[parts]int][]class
	memos   map[string]map[string]int // of groups, by fingerprint: equal groups of both trees share one
	answers map[int]Answer            // by the number of a value
	// places and times number, by target and by grant, what decides with a holding what the user has of it there.
	places, times []int
	assignmentIDs map[held][]int // by holding, 0 if it has no number yet
	buffer        []byte
	evaluations   int
	readsUser     bool   // says that a rule of either tree reads the user of a target
	epoch         [2]int // for cached values: [0] of groups independent of the holding, [1] of the others
}

// held is what determines, with a holding, the rows of the assignments that a group reads. rows has a bit for each of
// heldRows. place is -1 if it has no effect.
type held struct{ rows, place, times int }

// node is a group of one tree in a table.
type node struct {
	*group
	side  int
	below []*node // of the dependencies
	// memo caches values by the numbers that they depend on.
	memo map[string]int
	// reads are, by part and value, the number of what the group reads.
	reads [parts][]int
	// readParts are the parts read by the group itself, except the holding. dependsOn are all parts that it depends on.
	// heldRows says which rows of the holding it reads itself: a bit for each.
	readParts []part
	dependsOn partSet
	heldRows  int
	// cached is the value at the current point. It is valid if cachedEpoch is the current epoch.
	cached, cachedEpoch int
}

// id returns the number of a text. The text stands for a value, or for the reason why it has none.
func (t *table) id(text string, value ast.Value) int {
	id, ok := t.ids[text]
	if !ok {
		id = len(t.texts)
		t.ids[text] = id
		t.texts, t.values = append(t.texts, text), append(t.values, value)
	}
	return id
}

// addNodes adds the nodes of the root in one tree.
func (t *table) addNodes(side int) {
	var readers []*group
	for _, g := range withDependencies(t.rules[side].groups[t.rule]) {
		n := &node{group: g, side: side, dependsOn: g.partsRead()}
		for i, path := range heldRows() {
			if g.readsRow(path) {
				n.heldRows |= 1 << i
			}
		}
		for _, part := range [...]part{requestPart, personPart, targetPart, grantPart} {
			if n.dependsOn.has(part) {
				n.readParts = append(n.readParts, part)
			}
		}
		if n.dependsOn.has(holdingPart) {
			n.dependsOn |= personPart.bit() | targetPart.bit() | grantPart.bit() // they decide whether the user may hold it, whether it covers the target, and whether it has ended
			readers = append(readers, g)
		}
		for _, dep := range g.deps {
			n.below = append(n.below, t.nodeOf[dep])
			n.dependsOn |= t.nodeOf[dep].dependsOn
		}
		if t.memos[g.print] == nil {
			t.memos[g.print] = map[string]int{}
		}
		n.memo = t.memos[g.print]
		t.nodes, t.nodeOf[g], t.roots[side] = append(t.nodes, n), n, n
	}
	t.holders = append(t.holders, t.nodesOf(readers)...)
}

// nodesOf returns the nodes of the groups and of all their dependencies.
func (t *table) nodesOf(groups []*group) (nodes []*node) {
	for _, g := range withDependencies(groups...) {
		nodes = append(nodes, t.nodeOf[g])
	}
	return nodes
}

// partsRead returns the parts that a group reads itself.
func (g *group) partsRead() (all partSet) {
	for i, row := range question.Table() {
		if g.reads[i] {
			all |= partOf(row.Path).bit()
		}
	}
	return all
}

// sizes returns the number of values of each part except the holding.
func (t *table) sizes() [parts]int {
	return [parts]int{requestPart: len(t.requests), personPart: len(t.persons), targetPart: len(t.targets), grantPart: len(t.grants)}
}

// numberReads numbers, for each value of each part, what each group reads of it. A group can't distinguish two values
// with the same number. If it only compares a path with constants, all other values of the path are one to it: -1.
func (t *table) numberReads() {
	for number, size := range t.sizes() {
		part := part(number)
		for value := range size {
			if t.ctx.Err() != nil {
				return
			}
			pt := point{}
			pt[part] = value
			read := t.rowNumbers(0, pt, part)
			both := [2][]int{read, read}
			if part == requestPart { // which alone differs between the trees
				both[1] = t.rowNumbers(1, pt, part)
			}
			for _, n := range t.nodes {
				n.reads[part] = append(n.reads[part], t.readNumberOf(n.group, both[n.side]))
			}
		}
	}
}

// readNumberOf returns the number of what a group reads of the rows with these numbers.
func (t *table) readNumberOf(g *group, rows []int) int {
	t.buffer = t.buffer[:0]
	for row, id := range rows {
		if g.reads[row] && id >= 0 {
			if constants := g.constants[row]; constants != nil && !constants[strings.TrimPrefix(t.texts[id], "value ")] {
				id = -1
			}
			t.buffer = binary.AppendVarint(t.buffer, int64(id))
		}
	}
	return t.id("tuple "+string(t.buffer), nil)
}

// rowNumbers returns, by row of the input, the number of its value; -1 for a row of another part.
func (t *table) rowNumbers(side int, pt point, part part) (read []int) {
	q := t.question(side, pt)
	for _, row := range question.Table() {
		if id := -1; partOf(row.Path) != part {
			read = append(read, id)
			continue
		}
		read = append(read, t.id("value "+question.Value(&q, row.Path).String(), nil))
	}
	return read
}

// question returns the question of a tree at a point.
func (t *table) question(side int, pt point) resources.Question {
	a, w, p, h, g := &t.requests[pt[requestPart]], &t.persons[pt[personPart]], &t.targets[pt[targetPart]], &t.holdings[pt[holdingPart]], &t.grants[pt[grantPart]]
	facts := resources.Facts{Subject: w.subject, ProjectState: p.projectState}
	if w.subject != nil && len(h.assignments) > 0 {
		facts.Subject = w.subject.Clone()
		facts.Subject.Assignments = h.assignments
	}
	q := resources.Question{
		Principal: w.principal, Action: a.action[side], AccountID: w.account, Facts: facts, Target: p.target,
		Route: a.routes[side], Agent: w.agent, Now: g.now,
	}
	if t.entry == engine.EntryGrantable {
		return resources.Question{
			Principal: w.principal, AccountID: w.account, Facts: facts, Target: resources.TargetAt(p.target.ProjectID, p.target.Resource),
			Grant: &resources.Grant{Permissions: g.permissions, Until: g.until}, Now: g.now,
		}
	}
	return q
}

// reset invalidates the values cached for the previous point.
func (t *table) reset() {
	t.epoch[0]++
	t.epoch[1]++
}

// value returns the number of a group's value at a point. It evaluates the group once for each combination of inputs
// and dependencies.
func (t *table) value(n *node, pt *point) int {
	level := 0
	if n.dependsOn.has(holdingPart) {
		level = 1
	}
	if n.cachedEpoch == t.epoch[level] {
		return n.cached
	}
	for _, dep := range n.below {
		t.value(dep, pt) // caches it
	}
	key := t.buffer[:0]
	for _, part := range n.readParts {
		key = binary.AppendVarint(key, int64(n.reads[part][pt[part]]))
	}
	if n.heldRows != 0 {
		key = binary.AppendVarint(key, int64(t.assignmentsNumber(n, pt)))
	}
	for _, dep := range n.below {
		key = binary.AppendVarint(key, int64(dep.cached))
	}
	t.buffer = key
	value, ok := n.memo[string(key)]
	if !ok {
		memo := string(key)
		value = t.evaluate(n, pt)
		n.memo[memo] = value
	}
	n.cached, n.cachedEpoch = value, t.epoch[level]
	return value
}

// assignmentsNumber returns the number of the rows of the assignments that a group reads at a point.
func (t *table) assignmentsNumber(n *node, pt *point) int {
	key := held{n.heldRows, -1, t.times[pt[grantPart]]}
	if n.heldRows&1 != 0 { // subject.here, the first of heldRows
		key.place = t.places[pt[targetPart]]
	}
	numbers := t.assignmentIDs[key]
	if numbers == nil {
		numbers = make([]int, len(t.holdings))
		t.assignmentIDs[key] = numbers
	}
	number := &numbers[pt[holdingPart]]
	if *number == 0 {
		q, text := t.question(n.side, *pt), "holds"
		for i, path := range heldRows() {
			if n.heldRows&(1<<i) != 0 {
				text += " " + question.Value(&q, path).String()
			}
		}
		*number = t.id(text, nil) + 1
	}
	return *number
}

// numbered returns the number of the key of each of n values.
func numbered[K comparable](n int, keyOf func(i int) K) (out []int) {
	numbers := map[K]int{}
	for i := range n {
		key := keyOf(i)
		number, ok := numbers[key]
		if !ok {
			number = len(numbers)
			numbers[key] = number
		}
		out = append(out, number)
	}
	return out
}

// evaluate evaluates a group with OPA, and returns the number of the value or of the error.
func (t *table) evaluate(n *node, pt *point) int {
	if n.union {
		return t.union(n)
	}
	t.evaluations++
	q := t.question(n.side, *pt)
	input := question.Term(&q, n.inputRows)
	if n.element != nil {
		elements, err := t.rules[n.side].set.Elements(t.ctx, n.element, input, t.grants[pt[grantPart]].now, evaluationLimit)
		if err != nil {
			return t.id("error "+err.Error(), nil)
		}
		return t.id("is "+elements.String(), elements)
	}
	value, err := n.rule.Value(t.ctx, input, t.grants[pt[grantPart]].now, evaluationLimit)
	switch {
	case err != nil:
		return t.id("error "+err.Error(), nil)
	case value == nil:
		return t.id("undefined", nil)
	}
	return t.id("is "+value.String(), value)
}

// union returns the number of a partial set, from the values of its definitions.
func (t *table) union(n *node) int {
	all := ast.NewSet()
	for _, dep := range n.below {
		set, ok := t.values[dep.cached].(ast.Set)
		if !ok {
			return dep.cached // the number of the error
		}
		set.Foreach(all.Add)
	}
	return t.id("is "+all.String(), all)
}

// decode returns the answer in the value of an entry point, as the engine reads it. An undefined value, an error or
// another form denies.
func (t *table) decode(id int) Answer {
	value := t.values[id]
	if value == nil {
		return Answer{Reason: t.texts[id]}
	}
	d, err := t.rules[0].set.Read(t.entry, ast.NewTerm(value))
	if err != nil {
		return Answer{Reason: "ill-typed: " + t.texts[id]}
	}
	return Answer{Allow: d.Allowed, Code: d.Code, Reason: d.Reason}
}
