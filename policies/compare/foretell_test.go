package compare

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
)

// Foretold is a question of the table, with the table's answers.
type Foretold struct {
	Entry    string
	Question resources.Question
	Old, New Answer
}

// Foretell draws random points of each entry point: n with access for a user with all permissions, n with different
// answers of the two trees, and some others. It returns one question for each class of holdings there. It prefers
// routes with differences, and omits calls of routes that one tree lacks or has elsewhere.
func Foretell(ctx context.Context, old, next *engine.Set, seed uint64, n int) (out []Foretold, err error) {
	c, err := newComparison(ctx, old, next)
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(seed, 1))
	for _, entry := range engine.EntryPoints() {
		one, err := c.forRoot(ctx, root{entry, entry})
		if err != nil {
			return nil, err
		}
		t, err := one.newTable(ctx, root{entry, entry})
		if err != nil {
			return nil, err
		}
		every := slices.IndexFunc(t.holdings, func(h holding) bool {
			return len(h.assignments) == 1 && h.place == "account" && slices.Equal(h.assignments[0].Permissions, []string{"*:*:*"})
		})
		among := t.both()
		for lively, turning, tries := 0, 0, 0; lively+turning < 2*n && tries < 1000*n; tries++ {
			pt := point{among[r.IntN(len(among))], r.IntN(len(t.persons)), r.IntN(len(t.targets)), every, r.IntN(len(t.grants))}
			if fits, _ := t.fits(&pt); !fits {
				continue
			}
			all := t.foretold(pt)
			pt[holdingPart] = 0
			none := t.foretold(pt)
			switch {
			case turning < n && (all.turns() || none.turns()):
				turning++
			case lively < n && all.Old.Allow:
				lively++
			default:
				if tries%64 == 0 {
					out = append(out, none)
				}
				continue
			}
			for _, class := range t.classify(pt) {
				pt[holdingPart] = class.members[r.IntN(len(class.members))]
				out = append(out, t.foretold(pt))
			}
		}
	}
	return out, nil
}

func (f *Foretold) turns() bool { return f.Old.Allow != f.New.Allow }

// both returns the requests with the same route in both trees; only those that differ, if any do.
func (t *table) both() []int {
	var all, differing []int
	for i := range t.requests {
		a := &t.requests[i]
		if t.entry == engine.EntryGrantable { // its questions have no route
			return []int{i}
		}
		if a.routes[0] == nil || a.routes[1] == nil || a.routes[0].Name != a.routes[1].Name {
			continue
		}
		all = append(all, i)
		if !slices.Equal(a.routes[0].Access, a.routes[1].Access) || a.routes[0].Effect != a.routes[1].Effect {
			differing = append(differing, i)
		}
	}
	if len(differing) > 0 {
		return differing
	}
	return all
}

// foretold returns the question and the table's answers at a point.
func (t *table) foretold(pt point) Foretold {
	f := Foretold{Entry: t.entry}
	for side, answer := range []*Answer{&f.Old, &f.New} {
		t.reset()
		*answer = t.answer(side, t.value(t.roots[side], &pt), &pt)
	}
	f.Question = t.question(0, pt)
	return f
}
