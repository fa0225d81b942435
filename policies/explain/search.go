package explain

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// tellFixes searches for fixes, and tells what blocks where there is none. Only a member of the account can be given
// anything in it.
func (e *explanation) tellFixes(ctx context.Context) error {
	s := search{explanation: e, seen: map[string]bool{}}
	if subject := e.q.Facts.Subject; subject != nil && subject.UserExists && subject.AccountExists && subject.Member {
		s.state = e.stateSteps()
		var err error
		if s.ways, err = e.routes(ctx); err != nil {
			return err
		}
		slices.SortStableFunc(s.ways, func(a, b []atom) int { return cmp.Compare(len(a), len(b)) }) // where time ends, the short ones were tried
	}
	within, stop := context.WithTimeout(ctx, searchTime)
	defer stop()
	s.run(within)
	if len(s.found) == 0 && len(e.said.Denies) > 0 {
		s.widen(within)
	}
	if len(s.found) == 0 {
		s.tellBlocking(within)
	} else if err := s.rank(ctx, within); err != nil {
		return err
	}
	if s.cut || within.Err() != nil {
		e.out.Complete = false
	}
	return ctx.Err()
}

// search looks for the smallest sets of atoms after which the question is allowed.
type search struct {
	*explanation
	state []atom
	ways  [][]atom
	// seen are the sets that were judged, found those that are fixes: none contains another one.
	seen  map[string]bool
	found [][]atom
	// cut says that a bound was met.
	cut bool
}

// run judges the sets of the state's steps with those of one way, the smaller ones first. All sets of one size are
// judged before the search ends, so that the best of them is among the found.
func (s *search) run(ctx context.Context) {
	for size := 1; size <= maxSteps && len(s.found) < maxFixes; size++ {
		s.choose(ctx, s.state, size, nil)
		for _, way := range s.ways {
			s.choose(ctx, slices.Concat(s.state, way), size, nil)
		}
	}
}

// choose judges every set of that size that has the chosen atoms and others of the pool.
func (s *search) choose(ctx context.Context, pool []atom, size int, chosen []atom) {
	if len(chosen) == size {
		s.judge(ctx, chosen)
		return
	}
	for i := range pool {
		if len(pool)-i < size-len(chosen) {
			return
		}
		s.choose(ctx, pool[i+1:], size, append(slices.Clip(chosen), pool[i]))
	}
}

// judge tries a set of changes: it is a fix where the question is then allowed. Sets that hold a fix are left out.
func (s *search) judge(ctx context.Context, atoms []atom) {
	name := nameOf(atoms)
	if s.seen[name] || s.hasFix(atoms) {
		return
	}
	if len(s.seen) >= maxJudged || len(s.found) >= s.mostFound() || ctx.Err() != nil {
		s.cut = true
		return
	}
	s.seen[name] = true
	if s.suppose(ctx, changed(s.q, atoms)) {
		s.found = append(s.found, slices.Clone(atoms))
	}
}

// mostFound returns how many fixes are compared: fewer where each has many actions to be counted.
func (s *search) mostFound() int {
	return min(maxFound, max(1, maxCounted/max(1, len(s.actions))))
}

// hasFix says whether the set contains a fix, so that a step of it is not needed.
func (s *search) hasFix(atoms []atom) bool {
	return slices.ContainsFunc(s.found, func(fix []atom) bool {
		return !slices.ContainsFunc(fix, func(a atom) bool {
			return !slices.ContainsFunc(atoms, func(b atom) bool { return a.key() == b.key() })
		})
	})
}

func nameOf(atoms []atom) string {
	names := make([]string, len(atoms))
	for i, a := range atoms {
		names[i] = a.key()
	}
	slices.Sort(names)
	return strings.Join(names, "\n")
}

// widen tries the ways in pairs with any other role that can be assigned, for deny rules that want a role of their own.
func (s *search) widen(ctx context.Context) {
	var others []atom
	for i := range s.roles {
		role := &s.roles[i]
		if other, ok := s.assign(role); ok && role.Status == resources.StatusActive {
			others = append(others, other)
		}
	}
	slices.SortStableFunc(others, func(a, b atom) int { return cmp.Compare(s.breadth(a.role), s.breadth(b.role)) })
	for i := range s.held() {
		others = append(others, s.mend(i)...)
	}
	ways := append([][]atom{nil}, s.ways...)
	if len(ways) > maxWide || len(others) > maxWide {
		s.cut = true
		ways, others = ways[:min(len(ways), maxWide)], others[:min(len(others), maxWide)]
	}
	for size := 1; size <= maxSteps; size++ {
		for _, way := range ways {
			for _, other := range others {
				s.choose(ctx, append(slices.Concat(s.state, way), other), size, nil)
			}
		}
	}
}

// rank counts how many further actions each fix allows and, where the caller may know it, how many further users it
// concerns. It keeps the best maxFixes: fewest steps first, then fewest actions, then fewest users.
func (s *search) rank(ctx, within context.Context) error {
	denied, moved := s.deniedActions(within), false
	for _, atoms := range s.found {
		fix, change := fixOf(atoms)
		after := changed(s.q, atoms)
		for _, action := range denied {
			if after.Action = action; s.suppose(within, after) {
				fix.AlsoAllows++
			}
		}
		if s.sees.users {
			others, err := s.directory.Others(ctx, change)
			if err != nil && !errors.Is(err, ErrMoved) {
				return err
			}
			moved = moved || err != nil
			fix.Affects = &others
		}
		s.out.Fixes = append(s.out.Fixes, fix)
	}
	if moved { // some were counted and some were not
		s.out.Complete = false
		for i := range s.out.Fixes {
			s.out.Fixes[i].Affects = nil
		}
	}
	slices.SortStableFunc(s.out.Fixes, func(a, b resources.Fix) int {
		c := cmp.Or(cmp.Compare(len(a.Steps), len(b.Steps)), cmp.Compare(a.AlsoAllows, b.AlsoAllows))
		if c == 0 && a.Affects != nil {
			c = cmp.Compare(*a.Affects, *b.Affects)
		}
		return c
	})
	s.out.Fixes = s.out.Fixes[:min(len(s.out.Fixes), maxFixes)]
	return nil
}

// deniedActions returns the other listed actions that the subject may not do at the target as things are.
func (s *search) deniedActions(ctx context.Context) (out []resources.Action) {
	now := s.q
	for _, action := range s.actions {
		if now.Action = action; action.ID != s.q.Action.ID && !s.suppose(ctx, now) {
			out = append(out, action)
		}
	}
	return out
}
