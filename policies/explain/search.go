package explain

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// addFixes adds fixes, or else the rules that block. Only a member of the account can be given anything in it.
func (e *explanation) addFixes(ctx context.Context) error {
	s := search{explanation: e, seen: map[string]bool{}}
	if subject := e.q.Facts.Subject; subject != nil && subject.UserExists && subject.AccountExists && subject.Member {
		s.state = e.stateSteps()
		var err error
		if s.ways, err = e.routes(ctx); err != nil {
			return err
		}
		slices.SortStableFunc(s.ways, func(a, b []atom) int { return cmp.Compare(len(a), len(b)) }) // the short ones come before the end of the time
	}
	bounded, stop := context.WithTimeout(ctx, searchTime)
	defer stop()
	s.run(bounded)
	if len(s.fixes) == 0 && len(e.said.Denies) > 0 {
		s.widen(bounded)
	}
	if len(s.fixes) == 0 {
		s.addBlocking(bounded)
	} else if err := s.rank(ctx, bounded); err != nil {
		return err
	}
	if s.cut || bounded.Err() != nil {
		e.out.Complete = false
	}
	return ctx.Err()
}

// search looks for the smallest sets of atoms after which the question is allowed.
type search struct {
	*explanation
	state []atom
	ways  [][]atom
	// seen are the judged sets, fixes those that allow. No fix contains another one.
	seen  map[string]bool
	fixes [][]atom
	// cut says that the search met a bound.
	cut bool
}

// run judges sets of the state's steps and those of one way, the smaller ones first. It judges all sets of one size before
// it ends, so that the best of them is among the fixes.
func (s *search) run(ctx context.Context) {
	for size := 1; size <= maxSteps && len(s.fixes) < maxFixes; size++ {
		s.choose(ctx, s.state, size, nil)
		for _, way := range s.ways {
			s.choose(ctx, slices.Concat(s.state, way), size, nil)
		}
	}
}

// choose judges every set of that size with the chosen atoms and others of the pool.
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

// judge judges a set of changes, which is a fix if the question is then allowed. It skips sets that contain a fix.
func (s *search) judge(ctx context.Context, atoms []atom) {
	name := nameOf(atoms)
	if s.seen[name] || s.hasFix(atoms) {
		return
	}
	if len(s.seen) >= maxJudged || len(s.fixes) >= s.mostFound() || ctx.Err() != nil {
		s.cut = true
		return
	}
	s.seen[name] = true
	if s.suppose(ctx, changed(s.q, atoms)) {
		s.fixes = append(s.fixes, slices.Clone(atoms))
	}
}

// mostFound bounds the fixes that are compared. With many actions to count it is lower.
func (s *search) mostFound() int {
	return min(maxFound, max(1, maxCounted/max(1, len(s.actions))))
}

// hasFix says whether the set contains a fix, and so a step that is not needed.
func (s *search) hasFix(atoms []atom) bool {
	return slices.ContainsFunc(s.fixes, func(fix []atom) bool {
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

// widen tries each way with one further role, for deny rules that want a role of their own.
func (s *search) widen(ctx context.Context) {
	var further []atom
	for i := range s.roles {
		role := &s.roles[i]
		if other, ok := s.assign(role); ok && role.Status == resources.StatusActive {
			further = append(further, other)
		}
	}
	slices.SortStableFunc(further, func(a, b atom) int { return cmp.Compare(s.breadth(a.role), s.breadth(b.role)) })
	for i := range s.assignments() {
		further = append(further, s.mend(i)...)
	}
	ways := append([][]atom{nil}, s.ways...)
	if len(ways) > maxWide || len(further) > maxWide {
		s.cut = true
		ways, further = ways[:min(len(ways), maxWide)], further[:min(len(further), maxWide)]
	}
	for size := 1; size <= maxSteps; size++ {
		for _, way := range ways {
			for _, other := range further {
				s.choose(ctx, append(slices.Concat(s.state, way), other), size, nil)
			}
		}
	}
}

// rank counts the further actions that each fix allows and, if the caller may list users, the further users concerned. It
// keeps the best maxFixes: fewest steps first, then fewest actions, then fewest users.
func (s *search) rank(ctx, bounded context.Context) error {
	denied, moved := s.deniedActions(bounded), false
	for _, atoms := range s.fixes {
		fix, change := fixOf(atoms)
		after := changed(s.q, atoms)
		for _, action := range denied {
			if after.Action = action; s.suppose(bounded, after) {
				fix.AlsoAllows++
			}
		}
		if s.sees.users {
			counted, err := s.directory.Others(ctx, change)
			if err != nil && !errors.Is(err, ErrMoved) {
				return err
			}
			moved = moved || err != nil
			fix.Affects = &counted
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

// deniedActions returns the other listed actions that the subject may not do at the target now.
func (s *search) deniedActions(ctx context.Context) (out []resources.Action) {
	now := s.q
	for _, action := range s.actions {
		if now.Action = action; action.ID != s.q.Action.ID && !s.suppose(ctx, now) {
			out = append(out, action)
		}
	}
	return out
}
