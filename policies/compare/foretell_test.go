package compare

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
)

// Foretold is a question of the table, with what the table says of it.
type Foretold struct {
	Entry    string
	Question resources.Question
	Old, New Answer
}

// Foretell returns, of so many askings, callers, places and grants of each entry point where all permissions allow, and of as
// many where all or none turn the answer, a question for each class of what the user may hold; and some where they do not.
// Where rows differ it takes those. It leaves out calls of rows that one of the trees does not have, or has elsewhere.
func Foretell(ctx context.Context, old, fresh *engine.Set, seed uint64, n int) (out []Foretold, err error) {
	c, err := newComparison(ctx, old, fresh)
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(seed, 1))
	for _, entry := range engine.EntryPoints() {
		by, err := c.forRoot(ctx, root{entry, entry})
		if err != nil {
			return nil, err
		}
		t, err := by.newTable(ctx, root{entry, entry})
		if err != nil {
			return nil, err
		}
		every := slices.IndexFunc(t.holdings, func(h holding) bool {
			return len(h.held) == 1 && h.target == "account" && slices.Equal(h.held[0].Permissions, []string{"*:*:*"})
		})
		among := t.both()
		for lively, turning, tries := 0, 0, 0; lively+turning < 2*n && tries < 1000*n; tries++ {
			at := point{among[r.IntN(len(among))], r.IntN(len(t.persons)), r.IntN(len(t.targets)), every, r.IntN(len(t.grants))}
			if fits, _ := t.fits(&at); !fits {
				continue
			}
			all := t.foretold(at)
			at[holdingPart] = 0
			none := t.foretold(at)
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
			for _, class := range t.classify(at) {
				at[holdingPart] = class.members[r.IntN(len(class.members))]
				out = append(out, t.foretold(at))
			}
		}
	}
	return out, nil
}

func (f *Foretold) turns() bool { return f.Old.Allow != f.New.Allow }

// both are the askings of rows that both trees have, those that differ where there are some.
func (t *table) both() []int {
	var all, differing []int
	for i := range t.requests {
		a := &t.requests[i]
		if t.entry == engine.EntryGrantable { // which is asked about no row
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

// foretold is what the table says at a point.
func (t *table) foretold(at point) Foretold {
	f := Foretold{Entry: t.entry}
	for side, answer := range []*Answer{&f.Old, &f.New} {
		s := t.sides[side]
		s.epoch[0]++
		s.epoch[1]++
		*answer = t.answerList[t.answer(side, t.value(s, len(s.groups)-1, &at), &at)]
	}
	f.Question = t.question(0, at)
	return f
}
