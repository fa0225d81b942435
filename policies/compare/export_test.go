package compare

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/question"
	"github.com/portcullis-authz/portcullis/resources"
)

// Agree asks random questions of the table both ways, and says how many were asked, and how many of them the trees
// answer differently.
func Agree(ctx context.Context, old, fresh *engine.Set, seed uint64, n int) (asked, changed int, err error) {
	c, err := newComparison(ctx, old, fresh)
	if err != nil {
		return 0, 0, err
	}
	r := rand.New(rand.NewPCG(seed, 1))
	for _, entry := range engine.EntryPoints() {
		by, err := c.forRoot(ctx, root{entry, entry})
		if err != nil {
			return asked, changed, err
		}
		t, err := by.newTable(ctx, root{entry, entry})
		if err != nil {
			return asked, changed, err
		}
		for left := n; left > 0; {
			at := point{r.IntN(len(t.requests)), r.IntN(len(t.persons)), r.IntN(len(t.targets)), 0, r.IntN(len(t.grants))}
			if fits, _ := t.fits(&at); !fits {
				continue
			}
			classes := t.classify(at)
			of := classes[r.IntN(len(classes))]
			at[holdingPart] = of.members[r.IntN(len(of.members))]
			left--
			asked++
			var told [2]Answer
			for side, s := range t.sides {
				if told[side], err = t.judge(side, at); err != nil {
					return asked, changed, err
				}
				by := at
				by[holdingPart] = of.members[0]
				s.epoch[0]++
				s.epoch[1]++
				has, q := t.answerList[t.answer(side, t.value(s, len(s.groups)-1, &by), &at)], t.question(side, at)
				in := question.Of(&q)
				if has.Reason = in.Told(resources.Decision{Reason: has.Reason}).Reason; has != told[side] {
					return asked, changed, fmt.Errorf("%s, tree %d, %v: the table has %+v, the engine says %+v", entry, side, at, has, told[side])
				}
			}
			if told[0] != told[1] {
				changed++
			}
		}
	}
	return asked, changed, nil
}

// judge is what the engine says at a point.
func (t *table) judge(side int, at point) (Answer, error) {
	q := t.question(side, at)
	set := t.sides[side].rules.set
	d, err := set.Judge(t.ctx, t.entry, q, evaluationLimit)
	return Answer{d.Allowed, d.Code, d.Reason}, err
}

// Places returns where the rules of a tree are, by their names.
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

// GapsOf returns what a comparison leaves out, as far as it is known before the first question is asked.
func GapsOf(ctx context.Context, old, fresh *engine.Set) (gaps []Gap, err error) {
	c, err := newComparison(ctx, old, fresh)
	if err != nil {
		return nil, err
	}
	defer c.close(ctx)
	for _, of := range roots() {
		if c.sameAnswers(of.rule) {
			continue
		}
		by, err := c.forRoot(ctx, of)
		if err != nil {
			return nil, err
		}
		gaps = append(append(gaps, by.gaps...), c.withGaps(of.rule)...)
	}
	return gaps, nil
}
