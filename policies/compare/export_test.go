package compare

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/question"
	"github.com/portcullis-authz/portcullis/resources"
)

// Agree asks random questions of the table and of the engine. It returns how many it asked, and how many have different
// answers in the two trees.
func Agree(ctx context.Context, old, next *engine.Set, seed uint64, n int) (asked, changed int, err error) {
	c, err := newComparison(ctx, old, next)
	if err != nil {
		return 0, 0, err
	}
	r := rand.New(rand.NewPCG(seed, 1))
	for _, entry := range engine.EntryPoints() {
		one, err := c.forRoot(ctx, root{entry, entry})
		if err != nil {
			return asked, changed, err
		}
		t, err := one.newTable(ctx, root{entry, entry})
		if err != nil {
			return asked, changed, err
		}
		for remaining := n; remaining > 0; {
			pt := point{r.IntN(len(t.requests)), r.IntN(len(t.persons)), r.IntN(len(t.targets)), 0, r.IntN(len(t.grants))}
			if fits, _ := t.fits(&pt); !fits {
				continue
			}
			classes := t.classify(pt)
			class := classes[r.IntN(len(classes))]
			pt[holdingPart] = class.members[r.IntN(len(class.members))]
			remaining--
			asked++
			var answers [2]Answer
			for side, n := range t.roots {
				if answers[side], err = t.judge(side, pt); err != nil {
					return asked, changed, err
				}
				first := pt
				first[holdingPart] = class.members[0]
				t.reset()
				has, q := t.answer(side, t.value(n, &first), &pt), t.question(side, pt)
				if has.Reason = question.FillReason(&q, resources.Decision{Reason: has.Reason}).Reason; has != answers[side] {
					return asked, changed, fmt.Errorf("%s, tree %d, %v: the table has %+v, the engine says %+v", entry, side, pt, has, answers[side])
				}
			}
			if answers[0] != answers[1] {
				changed++
			}
		}
	}
	return asked, changed, nil
}

// judge returns the engine's answer at a point.
func (t *table) judge(side int, pt point) (Answer, error) {
	q := t.question(side, pt)
	set := t.rules[side].set
	d, err := set.Judge(t.ctx, t.entry, q, evaluationLimit)
	return Answer{d.Allowed, d.Code, d.Reason}, err
}

// Places returns the locations of the rules of a tree, by name.
func Places(ctx context.Context, set *engine.Set) (map[string]string, error) {
	r, err := newRules(ctx, set)
	if err != nil {
		return nil, err
	}
	defer r.close(ctx)
	out := map[string]string{}
	for name, g := range r.groups {
		if g.location != nil {
			out[name] = gap(g.location, "", "").At
		}
	}
	return out, nil
}

// GapsOf returns the gaps known before the first question.
func GapsOf(ctx context.Context, old, next *engine.Set) (gaps []Gap, err error) {
	c, err := newComparison(ctx, old, next)
	if err != nil {
		return nil, err
	}
	defer c.close(ctx)
	for _, root := range roots() {
		if c.sameAnswers(root) {
			continue
		}
		one, err := c.forRoot(ctx, root)
		if err != nil {
			return nil, err
		}
		gaps = append(append(gaps, one.gaps...), c.withGaps(root.rule)...)
	}
	return gaps, nil
}
