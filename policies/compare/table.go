package compare

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/question"
	"github.com/portcullis-authz/portcullis/resources"
)

// within bounds one evaluation: a difference is no measurement of a busy machine.
const within = 10 * time.Second

// point is one question: the number of the value of each part.
type point [parts]int

// table is all questions at one entry point, and what the rules of both trees say to them.
type table struct {
	ctx context.Context
	ask
	asked  []asking
	who    []person
	where  []place
	holds  []holding
	grants []granting
	// roleOf has, by what is asked or granted, the system role that stands for each; sameRoles says that no role tells
	// the trees apart there.
	roleOf    []map[string]string
	sameRoles []bool
	// contexts number, by part, all on which the classes of holdings rest; around, the same without which are of interest.
	contexts, around [parts][]int
	numbers          map[[parts]int][]int
	// alike says that the trees are told the same of what is asked at the point.
	alike   bool
	sides   [2]*side
	ids     map[string]int // of values, by their texts
	values  []ast.Value
	texts   []string
	classes map[[parts]int][]class
	// answers are, by the numbers of values, the numbers of answers; those are answersBy and, by themselves, answerIDs.
	answers   map[int]int
	answersBy []Answer
	answerIDs map[Answer]int
	callers   []int // the first of who with the same caller and credential
	here      map[[4]int]int
	buffer    []byte
	evals     int
	holders   map[[2]int]*resources.Subject
}

// side is one tree in a table.
type side struct {
	rules  *rules
	number int
	order  []*group // those on which the entry point rests, after what they rest on
	index  map[*group]int
	// byPrint are the groups by what they do.
	byPrint map[string]int
	memos   []map[string]int
	// subs are, by group and part, the number of what the group reads of each value of the part.
	subs [][parts][]int
	// held says which groups rest on what the user holds; direct ones read it themselves. On are the parts on which they
	// rest at all.
	held, direct []bool
	on           []set
	// twins are the equal groups of the first tree, -1 for none.
	twins []int
	// context are the groups that read it themselves, and what they rest on.
	context []int
	// seen are the values at the point, of the epochs of their making.
	seen  []int
	epoch []int
	now   [2]int // of all parts but what the user holds, and of all
}

// id returns the number of a text, which stands for a value or for why there is none.
func (t *table) id(text string, value ast.Value) int {
	id, known := t.ids[text]
	if !known {
		id = len(t.texts)
		t.ids[text] = id
		t.texts, t.values = append(t.texts, text), append(t.values, value)
	}
	return id
}

// newSide orders the groups of an entry point, each behind those on which it rests, and notes which of them read what the
// user holds. A group that the other side has as well shares its numbers.
func (t *table) newSide(number int, r *rules, other *side) *side {
	s := &side{rules: r, number: number, index: map[*group]int{}, byPrint: map[string]int{}}
	var visit func(g *group)
	visit = func(g *group) {
		if _, known := s.index[g]; known {
			return
		}
		for _, dep := range g.deps {
			visit(dep)
		}
		i := len(s.order)
		s.index[g] = i
		s.order = append(s.order, g)
		direct := g.reads[subjectHere] || g.reads[subjectAssignments] || g.reads[subjectRoles]
		held := direct || slices.ContainsFunc(g.deps, func(dep *group) bool { return s.held[s.index[dep]] })
		s.direct, s.held = append(s.direct, direct), append(s.held, held)
		memo, twin := map[string]int{}, -1
		if other != nil {
			if of, known := other.byPrint[g.print]; known {
				twin, memo = of, other.memos[of]
			}
		}
		s.byPrint[g.print] = i
		s.memos, s.twins = append(s.memos, memo), append(s.twins, twin)
		s.on = append(s.on, s.restsOn(g))
	}
	visit(r.groups[t.rule])
	around := map[*group]bool{}
	var below func(g *group)
	below = func(g *group) {
		if !around[g] {
			around[g] = true
			s.context = append(s.context, s.index[g])
			for _, dep := range g.deps {
				below(dep)
			}
		}
	}
	for n, g := range s.order {
		if s.direct[n] {
			below(g)
		}
	}
	s.seen, s.epoch = make([]int, len(s.order)), make([]int, len(s.order))
	return s
}

// restsOn returns the parts of a question on which a group rests, after what it rests on.
func (s *side) restsOn(g *group) (on set) {
	for p := range paths {
		if g.reads[p] {
			on |= p.part().bit()
		}
	}
	if on&holds.bit() != 0 {
		on |= who.bit() | where.bit() | grant.bit() // who may hold it, what stands around the target, and what has ended
	}
	for _, dep := range g.deps {
		on |= s.on[s.index[dep]]
	}
	return on
}

// number finds which values of each part the groups can tell apart.
func (t *table) number(s *side) {
	s.subs = make([][parts][]int, len(s.order))
	for _, of := range []struct {
		part part
		size int
	}{{asked, len(t.asked)}, {who, len(t.who)}, {where, len(t.where)}, {grant, len(t.grants)}} {
		for i := range of.size {
			if t.ctx.Err() != nil {
				return
			}
			at := point{}
			at[of.part] = i
			read := t.leaves(s, at, of.part)
			for n, g := range s.order {
				t.buffer = t.buffer[:0]
				for p := range paths {
					if g.reads[p] && p.part() == of.part {
						id := read[p]
						if constants := g.told[p]; constants != nil && !constants[strings.TrimPrefix(t.texts[id], "value ")] {
							id = -1
						}
						t.buffer = binary.AppendVarint(t.buffer, int64(id))
					}
				}
				s.subs[n][of.part] = append(s.subs[n][of.part], t.id("tuple "+string(t.buffer), nil))
			}
		}
	}
}

// leaves returns the numbers of the values of the part's paths at a point.
func (t *table) leaves(s *side, at point, of part) (read [paths]int) {
	input := t.input(s.number, at)
	for p := range paths {
		if p.part() == of {
			read[p] = t.id("value "+leaf(input, p), nil)
		}
	}
	return read
}

// leaf returns the text of the value of the input at a path.
func leaf(input *ast.Term, p path) string {
	value, err := input.Value.Find(p.ref())
	if err != nil {
		return "missing"
	}
	return value.String()
}

// input returns what a tree is told at a point.
func (t *table) input(side int, at point) *ast.Term {
	q := t.question(side, at)
	return engine.InputOf(&q)
}

// question returns the question at a point.
func (t *table) question(side int, at point) resources.Question {
	a, w, p, h, g := &t.asked[at[asked]], &t.who[at[who]], &t.where[at[where]], &t.holds[at[holds]], &t.grants[at[grant]]
	facts := resources.Facts{Subject: w.subject, ProjectState: p.state}
	if w.subject != nil && len(h.held) > 0 {
		facts.Subject = t.holder(at[who], at[holds])
	}
	q := resources.Question{
		Principal: w.principal, Action: a.action[side], AccountID: w.account, Facts: facts, Target: p.target,
		Route: a.row(side), Now: g.now,
	}
	if t.entry == engine.EntryGrantable {
		return resources.Question{
			Principal: w.principal, AccountID: w.account, Facts: facts, Target: resources.TargetAt(p.target.ProjectID, p.target.Resource),
			Grant: &resources.Grant{Permissions: g.permissions, Until: g.until}, Now: g.now,
		}
	}
	return q
}

// holder returns a user with what the user holds.
func (t *table) holder(w, h int) *resources.Subject {
	key := [2]int{w, h}
	if t.holders[key] == nil {
		subject := t.who[w].subject.Clone()
		subject.Assignments = t.holds[h].held
		t.holders[key] = subject
	}
	return t.holders[key]
}

// row returns the row of a tree, nil where it has none.
func (a *asking) row(side int) *resources.Route {
	if side == 0 {
		return a.old
	}
	return a.fresh
}

// next forgets the values at the point before.
func (t *table) next() {
	for _, s := range t.sides {
		s.now[0]++
		s.now[1]++
	}
}

// value returns the number of the value of a group at a point.
func (t *table) value(s *side, n int, at *point) int {
	level := 0
	if s.held[n] {
		level = 1
	}
	if s.epoch[n] == s.now[level] {
		return s.seen[n]
	}
	if twin := s.twins[n]; twin >= 0 && t.alike {
		s.seen[n], s.epoch[n] = t.value(t.sides[0], twin, at), s.now[level]
		return s.seen[n]
	}
	g := s.order[n]
	var few [8]int
	deps := few[:0]
	for _, dep := range g.deps {
		deps = append(deps, t.value(s, s.index[dep], at))
	}
	key := t.buffer[:0]
	for _, of := range [...]part{asked, who, where, grant} {
		key = binary.AppendVarint(key, int64(s.subs[n][of][at[of]]))
	}
	if s.direct[n] {
		key = binary.AppendVarint(key, int64(t.assigned(s, g, at)))
	}
	for _, dep := range deps {
		key = binary.AppendVarint(key, int64(dep))
	}
	t.buffer = key
	value, known := s.memos[n][string(key)]
	if !known {
		memo := string(key)
		value = t.evaluate(s, g, at)
		s.memos[n][memo] = value
	}
	s.seen[n], s.epoch[n] = value, s.now[level]
	return value
}

// assigned returns the number of what the group reads of the assignments at a point.
func (t *table) assigned(s *side, g *group, at *point) int {
	kinds := 0
	for i, p := range [...]path{subjectRoles, subjectAssignments, subjectHere} {
		if g.reads[p] {
			kinds |= 1 << i
		}
	}
	spot := 0
	if g.reads[subjectHere] {
		spot = t.id("spot "+t.where[at[where]].target.ProjectID+"\n"+t.where[at[where]].target.Resource, nil)
	}
	key := [4]int{kinds, at[holds], spot, t.id(fmt.Sprint("ends ", t.grants[at[grant]].now, t.grants[at[grant]].until), nil)}
	id, known := t.here[key]
	if !known {
		q, text := t.question(s.number, *at), "holds"
		in := question.Of(&q)
		for i, p := range [...]path{subjectRoles, subjectAssignments, subjectHere} {
			if kinds&(1<<i) != 0 {
				text += " " + in.Value(p.String()).String()
			}
		}
		id = t.id(text, nil)
		t.here[key] = id
	}
	return id
}

// evaluate asks OPA.
func (t *table) evaluate(s *side, g *group, at *point) int {
	if g.union {
		return t.union(s, g)
	}
	t.evals++
	q := t.question(s.number, *at)
	in := question.Of(&q)
	input := in.Term(g.rows)
	if g.element != nil {
		found, err := s.rules.set.Elements(t.ctx, g.element, input, t.grants[at[grant]].now, within)
		if err != nil {
			return t.id("error "+err.Error(), nil)
		}
		return t.id("is "+found.String(), found)
	}
	value, err := g.rule.Value(t.ctx, input, t.grants[at[grant]].now, within)
	switch {
	case err != nil:
		return t.id("error "+err.Error(), nil)
	case value == nil:
		return t.id("undefined", nil)
	}
	return t.id("is "+value.String(), value)
}

// union returns the number of the value of a partial set, of whose definitions the values are known.
func (t *table) union(s *side, g *group) int {
	all := ast.NewSet()
	for _, dep := range g.deps {
		id := s.seen[s.index[dep]]
		found, ok := t.values[id].(ast.Set)
		if !ok {
			return id // why there is none
		}
		found.Foreach(all.Add)
	}
	return t.id("is "+all.String(), all)
}

// read returns what an entry point answers, by the number of its value.
func (t *table) read(id int) Answer {
	value := t.values[id]
	if value == nil {
		return Answer{Reason: t.texts[id]}
	}
	var out Answer
	object, ok := value.(ast.Object)
	if !ok {
		return Answer{Reason: "ill-typed: " + t.texts[id]}
	}
	if allow, ok := member[ast.Boolean](object, "allow"); ok {
		out.Allow = bool(allow)
	}
	code, _ := member[ast.String](object, "code")
	reason, _ := member[ast.String](object, "reason")
	out.Code, out.Reason = string(code), string(reason)
	return out
}

func member[T ast.Value](object ast.Object, name string) (value T, ok bool) {
	if term := object.Get(ast.StringTerm(name)); term != nil {
		value, ok = term.Value.(T)
	}
	return value, ok
}
