package compare

import (
	"cmp"
	"context"
	"strings"

	"github.com/portcullis-authz/portcullis/policies/engine"
)

// mostPoints bounds the questions of a table, without what is held.
const mostPoints = 5_000_000

// finding is a difference before the holdings of its class are told apart. Caller, old and fresh are numbers.
type finding struct {
	asked, grants, caller, old, fresh int
	reachable                         bool
	members                           *class
}

// shown are the values of the parts at which a finding was made.
type shown [parts]map[int]bool

// compare goes through the product. The error is the context's.
func (c *comparison) compare(ctx context.Context, of ask) (out Difference, err error) {
	if c, err = c.of(ctx, of); err != nil {
		return out, err
	}
	if out.Gaps = append(c.gaps, c.below(of)...); len(out.Gaps) > len(c.gaps) {
		return out, nil
	}
	if left := c.replaced(of.rule); len(left) > 0 {
		out.Gaps = append(out.Gaps, left...)
		out.Unasked = of.rule == of.entry
		return out, nil
	}
	t, err := c.newTable(ctx, of)
	if err != nil {
		return out, err
	}
	if points := len(t.asked) * len(t.who) * len(t.where) * len(t.grants); points > mostPoints {
		at := cmp.Or(c.rules[1].groups[of.rule].at, c.rules[0].groups[of.rule].at, c.rules[1].reached[0].Location)
		out.Gaps = append(out.Gaps, gap(at, strings.TrimPrefix(of.rule, "data.authz."), "all questions to it: rules name so much that there are too many"))
		out.Unasked = of.rule == of.entry
		return out, nil
	}
	found, changed := map[finding]*shown{}, t.newChanges()
	var at point
	for at[asked] = range t.asked {
		t.alike = changed.same[at[asked]]
		for at[who] = range t.who {
			for at[where] = range t.where {
				if err := ctx.Err(); err != nil {
					return out, err
				}
				for at[grant] = range t.grants {
					fits, reachable := t.fits(&at)
					if !fits {
						continue
					}
					out.Questions += changed.count(&at)
					if changed.at(&at) {
						t.at(at, reachable, found)
					}
				}
			}
		}
	}
	out.Evaluations = t.evals
	if err := ctx.Err(); err != nil {
		return out, err
	}
	t.rows(found, &out)
	if of.entry == engine.EntryGrantable {
		out.Gaps = append(out.Gaps, c.beyond()...)
	}
	return out, ctx.Err() // an evaluation that was given up is no answer
}

// at compares the answers at a point, for each class of holdings.
func (t *table) at(at point, reachable bool, found map[finding]*shown) {
	classes := t.rank(at)
	for i := range classes {
		if t.ctx.Err() != nil {
			return
		}
		at[holds] = classes[i].members[0]
		var answers [2]int
		for n, s := range t.sides {
			s.now[1]++
			answers[n] = t.told(n, t.value(s, len(s.order)-1, &at), &at)
		}
		if answers[0] == answers[1] {
			continue
		}
		if t.explains() {
			answers = [2]int{t.numberOf(Answer{Reason: "one value"}), t.numberOf(Answer{Reason: "another"})}
		}
		of := finding{
			asked: at[asked], grants: -1, caller: t.callers[at[who]], old: answers[0], fresh: answers[1], reachable: reachable, members: &classes[i],
		}
		if t.entry == engine.EntryGrantable {
			of.grants = at[grant]
		}
		if found[of] == nil {
			found[of] = &shown{who: map[int]bool{}, where: map[int]bool{}, grant: map[int]bool{}}
		}
		for _, p := range [...]part{who, where, grant} {
			found[of][p][at[p]] = true
		}
	}
}

// states returns the states of the values at which a finding was made.
func (t *table) states(at *shown) map[State]bool {
	out := map[State]bool{}
	add := func(states []State) {
		for _, state := range states {
			out[state] = true
		}
	}
	for i := range at[who] {
		add(t.who[i].states)
	}
	for i := range at[where] {
		add(t.where[i].states)
	}
	for i := range at[grant] {
		add(t.grants[i].states)
	}
	return out
}

// told returns the number of the answer of a tree at a point. A row that a tree does not have lets nobody in.
func (t *table) told(side int, id int, at *point) int {
	a := &t.asked[at[asked]]
	if t.explains() {
		return t.numberOf(Answer{Reason: t.texts[id]})
	}
	if t.entry == engine.EntryAccess && a.row(side) == nil {
		return t.numberOf(Answer{Code: "no_route", Reason: "the tree has no such route"})
	}
	if t.entry == engine.EntryDecision {
		if d, denied := t.sides[side].rules.set.Unlisted(a.action[side]); denied {
			return t.numberOf(Answer{Code: d.Code, Reason: d.Reason})
		}
	}
	number, known := t.answers[id]
	if !known {
		number = t.numberOf(t.read(id))
		t.answers[id] = number
	}
	return number
}

// explains says whether the table is of something that an explanation tells.
func (t *table) explains() bool { return t.rule != t.entry }

// numberOf returns the number of an answer: equal ones have one.
func (t *table) numberOf(a Answer) int {
	number, known := t.answerIDs[a]
	if !known {
		number = len(t.answersBy)
		t.answerIDs[a] = number
		t.answersBy = append(t.answersBy, a)
	}
	return number
}
