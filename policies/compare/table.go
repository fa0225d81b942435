package compare

import (
	"context"
	"encoding/binary"
	"slices"
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
	closed  map[int]bool
	sides   [2]*side
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
	readsHere     bool   // says that a rule of either tree reads input.subject.here
	epoch         [2]int // for cached values: [0] of groups independent of the holding, [1] of the others
}

// held is what determines, with a holding, the rows of the assignments that a group reads. rows has a bit for each of
// heldRows. place is -1 if it has no effect.
type held struct{ rows, place, times int }

// side is one tree in a table.
type side struct {
	rules  *rules
	number int
	groups []*group // of the root and its dependencies, each after its own dependencies
	index  map[*group]int
	deps   [][]int // of each group
	// memos cache values by the numbers that they depend on.
	memos []map[string]int
	// reads are, by group, part and value, the number of what the group reads.
	reads [][parts][]int
	// readParts are, by group, the parts except the holding that the group reads itself. dependsOn are all parts that it
	// depends on. onHoldings says whether it depends on the holding, heldRows which of its rows it reads itself: a bit
	// for each.
	readParts  [][]part
	onHoldings []bool
	heldRows   []int
	dependsOn  []partSet
	// holdingGroups are the groups that read the holding themselves, and their dependencies.
	holdingGroups []int
	// cached are the values at the current point. They are valid if cachedEpoch is the current epoch.
	cached      []int
	cachedEpoch []int
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

// newSide orders the groups of a root after their dependencies, and finds the groups that read the holding.
func (t *table) newSide(number int, r *rules) *side {
	s := &side{rules: r, number: number, index: map[*group]int{}}
	s.groups = withDependencies(r.groups[t.rule])
	var readers []*group
	for i, g := range s.groups {
		s.index[g] = i
		rows := 0
		for i, path := range heldRows() {
			if g.readsRow(path) {
				rows |= 1 << i
			}
		}
		held := rows != 0 || slices.ContainsFunc(g.deps, func(dep *group) bool { return s.onHoldings[s.index[dep]] })
		s.heldRows, s.onHoldings = append(s.heldRows, rows), append(s.onHoldings, held)
		var read []part
		for _, part := range [...]part{requestPart, personPart, targetPart, grantPart} {
			if g.partsRead()&part.bit() != 0 {
				read = append(read, part)
			}
		}
		s.readParts = append(s.readParts, read)
		if t.memos[g.print] == nil {
			t.memos[g.print] = map[string]int{}
		}
		s.memos = append(s.memos, t.memos[g.print])
		var deps []int
		for _, dep := range g.deps {
			deps = append(deps, s.index[dep])
		}
		s.deps = append(s.deps, deps)
		s.dependsOn = append(s.dependsOn, s.partsOf(g))
		if rows != 0 {
			readers = append(readers, g)
		}
	}
	for _, g := range withDependencies(readers...) {
		s.holdingGroups = append(s.holdingGroups, s.index[g])
	}
	s.cached, s.cachedEpoch = make([]int, len(s.groups)), make([]int, len(s.groups))
	return s
}

// partsOf returns the parts that a group depends on. Its dependencies must come first.
func (s *side) partsOf(g *group) (all partSet) {
	all = g.partsRead()
	if all&holdingPart.bit() != 0 {
		all |= personPart.bit() | targetPart.bit() | grantPart.bit() // they decide whether the user may hold it, whether it covers the target, and whether it has ended
	}
	for _, dep := range g.deps {
		all |= s.dependsOn[s.index[dep]]
	}
	return all
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
	for _, s := range t.sides {
		s.reads = make([][parts][]int, len(s.groups))
	}
	for number, size := range t.sizes() {
		part := part(number)
		for value := range size {
			if t.ctx.Err() != nil {
				return
			}
			pt := point{}
			pt[part] = value
			read := t.rowNumbers(t.sides[0], pt, part)
			for _, s := range t.sides {
				if s.number == 1 && part == requestPart { // which alone differs between the trees
					read = t.rowNumbers(s, pt, part)
				}
				for i, g := range s.groups {
					s.reads[i][part] = append(s.reads[i][part], t.readNumberOf(g, read))
				}
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
func (t *table) rowNumbers(s *side, pt point, part part) (read []int) {
	q := t.question(s.number, pt)
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
func (t *table) value(s *side, n int, pt *point) int {
	level := 0
	if s.onHoldings[n] {
		level = 1
	}
	if s.cachedEpoch[n] == t.epoch[level] {
		return s.cached[n]
	}
	g := s.groups[n]
	for _, dep := range s.deps[n] {
		t.value(s, dep, pt) // caches it
	}
	key := t.buffer[:0]
	for _, part := range s.readParts[n] {
		key = binary.AppendVarint(key, int64(s.reads[n][part][pt[part]]))
	}
	if s.heldRows[n] != 0 {
		key = binary.AppendVarint(key, int64(t.assignmentsNumber(s, s.heldRows[n], pt)))
	}
	for _, dep := range s.deps[n] {
		key = binary.AppendVarint(key, int64(s.cached[dep]))
	}
	t.buffer = key
	value, ok := s.memos[n][string(key)]
	if !ok {
		memo := string(key)
		value = t.evaluate(s, g, pt)
		s.memos[n][memo] = value
	}
	s.cached[n], s.cachedEpoch[n] = value, t.epoch[level]
	return value
}

// assignmentsNumber returns the number of these rows of the assignments at a point.
func (t *table) assignmentsNumber(s *side, rows int, pt *point) int {
	key := held{rows, -1, t.times[pt[grantPart]]}
	if rows&1 != 0 { // subject.here, the first of heldRows
		key.place = t.places[pt[targetPart]]
	}
	numbers := t.assignmentIDs[key]
	if numbers == nil {
		numbers = make([]int, len(t.holdings))
		t.assignmentIDs[key] = numbers
	}
	number := &numbers[pt[holdingPart]]
	if *number == 0 {
		q, text := t.question(s.number, *pt), "holds"
		for i, path := range heldRows() {
			if rows&(1<<i) != 0 {
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
func (t *table) evaluate(s *side, g *group, pt *point) int {
	if g.union {
		return t.union(s, g)
	}
	t.evaluations++
	q := t.question(s.number, *pt)
	input := question.Term(&q, g.inputRows)
	if g.element != nil {
		elements, err := s.rules.set.Elements(t.ctx, g.element, input, t.grants[pt[grantPart]].now, evaluationLimit)
		if err != nil {
			return t.id("error "+err.Error(), nil)
		}
		return t.id("is "+elements.String(), elements)
	}
	value, err := g.rule.Value(t.ctx, input, t.grants[pt[grantPart]].now, evaluationLimit)
	switch {
	case err != nil:
		return t.id("error "+err.Error(), nil)
	case value == nil:
		return t.id("undefined", nil)
	}
	return t.id("is "+value.String(), value)
}

// union returns the number of a partial set, from the values of its definitions.
func (t *table) union(s *side, g *group) int {
	all := ast.NewSet()
	for _, dep := range g.deps {
		id := s.cached[s.index[dep]]
		set, ok := t.values[id].(ast.Set)
		if !ok {
			return id // the number of the error
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
	d, err := t.sides[0].rules.set.Read(t.entry, ast.NewTerm(value))
	if err != nil {
		return Answer{Reason: "ill-typed: " + t.texts[id]}
	}
	return Answer{Allow: d.Allowed, Code: d.Code, Reason: d.Reason}
}
