package compare

import (
	"context"
	"errors"
	"slices"

	"github.com/portcullis-authz/portcullis/policies/engine"
)

// finding is a difference for a class of holdings: a row without a role and a place.
type finding struct {
	rowKey
	members *class
}

// shown are the values of each part in questions. A finding has no holdings: all of its class show it.
type shown [parts]map[int]bool

// compare enumerates the questions of a root and compares the answers. It returns an error if a document cannot be read
// or the context ends.
func (c *comparison) compare(ctx context.Context, root root) (out Difference, err error) {
	if c, err = c.forRoot(ctx, root); err != nil {
		return out, err
	}
	out.Gaps = c.gaps
	gaps, t := append(c.partGaps(root), c.withGaps(root.rule)...), (*table)(nil)
	if len(gaps) == 0 {
		if t, err = c.newTable(ctx, root); errors.Is(err, errTooMany) {
			gaps, err = c.tooMany(ctx, root)
		}
	}
	if err != nil || len(gaps) > 0 {
		out.Gaps = append(out.Gaps, gaps...)
		out.Unasked = root.rule == root.entry
		return out, err
	}
	changed := t.newChanges()
	findings := map[finding]*shown{}
	var pt point
	for pt[requestPart] = range t.requests {
		for pt[personPart] = range t.persons {
			for pt[targetPart] = range t.targets {
				if err := ctx.Err(); err != nil {
					return out, err
				}
				for pt[grantPart] = range t.grants {
					fits, reachable := t.fits(&pt)
					if !fits {
						continue
					}
					out.Questions += changed.countQuestions(&pt)
					if changed.canDiffer(&pt) {
						t.compareAt(pt, reachable, findings)
					}
				}
			}
		}
	}
	out.Evaluations = t.evaluations
	if err := ctx.Err(); err != nil {
		return out, err
	}
	out.Gaps = append(out.Gaps, t.publicGaps()...)
	t.rows(findings, &out)
	return out, ctx.Err() // a cancelled evaluation is not an answer
}

// compareAt compares the answers at a point, once per class of holdings.
func (t *table) compareAt(pt point, reachable bool, findings map[finding]*shown) {
	classes := t.classify(pt)
	caller, public := &t.persons[pt[personPart]], t.requests[pt[requestPart]].publicIn()
	for i := range classes {
		if t.ctx.Err() != nil {
			return
		}
		pt[holdingPart] = classes[i].members[0]
		var answers [2]Answer
		t.epoch[1]++
		for side, n := range t.roots {
			answers[side] = t.answer(side, t.value(n, &pt), &pt)
		}
		if public >= 0 && !answers[public].Allow && !t.isExplanation() {
			t.closed[pt[requestPart]] = true
		}
		if answers[0] == answers[1] || public >= 0 && caller.caller == "anybody" {
			continue
		}
		if t.isExplanation() {
			answers = [2]Answer{{Reason: "one value"}, {Reason: "another"}}
		}
		f := finding{rowKey{
			request: pt[requestPart], grants: -1, caller: caller.caller, credential: caller.credential,
			old: answers[0], next: answers[1], reachable: reachable,
		}, &classes[i]}
		if t.entry == engine.EntryGrantable {
			f.grants = pt[grantPart]
		}
		if findings[f] == nil {
			findings[f] = &shown{personPart: map[int]bool{}, targetPart: map[int]bool{}, grantPart: map[int]bool{}}
		}
		for _, p := range [...]part{personPart, targetPart, grantPart} {
			findings[f][p][pt[p]] = true
		}
	}
}

// states returns the states of the values by name, sorted.
func (t *table) states(values *shown) map[string][]string {
	out := map[string][]string{}
	add := func(states []State) {
		for _, state := range states {
			if !slices.Contains(out[state.Name], state.Value) {
				out[state.Name] = append(out[state.Name], state.Value)
			}
		}
	}
	for i := range values[personPart] {
		add(t.persons[i].states)
	}
	for i := range values[targetPart] {
		add(t.targets[i].states)
	}
	for i := range values[holdingPart] {
		add(t.holdings[i].states)
	}
	for i := range values[grantPart] {
		add(t.grants[i].states)
	}
	for name := range out {
		slices.Sort(out[name])
	}
	return out
}

// answer returns a tree's answer at a point. A tree without the route denies.
func (t *table) answer(side int, id int, pt *point) Answer {
	a := &t.requests[pt[requestPart]]
	if t.isExplanation() {
		return Answer{Reason: t.texts[id]}
	}
	if t.entry == engine.EntryAccess && a.routes[side] == nil {
		return Answer{Code: "no_route", Reason: "the tree has no such route"}
	}
	if t.entry == engine.EntryDecision {
		if d, denied := t.rules[side].set.Unlisted(a.action[side]); denied {
			return Answer{Code: d.Code, Reason: d.Reason}
		}
	}
	answer, ok := t.answers[id]
	if !ok {
		answer = t.decode(id)
		t.answers[id] = answer
	}
	return answer
}

// isExplanation says whether the root is part of an explanation, not an entry point.
func (t *table) isExplanation() bool { return t.rule != t.entry }
