package explain

import (
	"context"
	"slices"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
)

// maxBlocked bounds the ways that are judged for what blocks all of them.
const maxBlocked = 8

// addBlocking adds the rules that deny the question after every way, with the state mended.
func (s *search) addBlocking(ctx context.Context) {
	ways := s.ways
	if len(ways) == 0 {
		ways = [][]atom{nil}
	}
	var blocking []resources.PolicyRule
	for i, way := range ways[:min(len(ways), maxBlocked)] {
		said, err := s.policy.Explain(ctx, changed(s.q, slices.Concat(s.state, way)))
		denying := s.denials(&said)
		switch {
		case err != nil:
			s.cut = true
		case i == 0:
			blocking = denying
		default:
			blocking = slices.DeleteFunc(blocking, func(r resources.PolicyRule) bool { return !slices.Contains(denying, r) })
		}
	}
	if len(blocking) == 0 {
		blocking = s.remaining(ctx, changed(s.q, slices.Concat(s.state, ways[0])))
	}
	if len(blocking) == 0 { // a fix would need more steps, or something else blocks each way
		blocking = s.denials(&s.said)
	}
	if len(blocking) == 0 && !s.cut {
		blocking = []resources.PolicyRule{s.noRole()}
	}
	for _, rule := range blocking {
		if s.sees.all {
			s.out.BlockedBy = append(s.out.BlockedBy, rule)
			continue
		}
		if s.mayKnow(rule) {
			s.out.BlockedBy = append(s.out.BlockedBy, resources.PolicyRule{Reason: rule.Reason})
		}
	}
}

// remaining returns what denies a mended question if no condition and no deny rule does.
func (s *search) remaining(ctx context.Context, q resources.Question) []resources.PolicyRule {
	said, err := s.policy.Explain(ctx, q)
	if err != nil || len(s.denials(&said)) > 0 {
		return nil
	}
	d, err := s.policy.Suppose(ctx, q)
	if err != nil || d.Allowed {
		return nil
	}
	return []resources.PolicyRule{{Reason: d.Reason, At: s.policy.GrantingAt(q.Action)}}
}

// denials returns the unmet conditions and the firing deny rules.
func (s *search) denials(said *engine.Explained) (out []resources.PolicyRule) {
	for _, condition := range said.Conditions {
		if !condition.Holds {
			out = append(out, resources.PolicyRule{Reason: condition.Says, At: s.policy.ConditionAt(condition.Name)})
		}
	}
	return append(out, said.Denies...)
}

// noRole returns what blocks if no rule does: no role that the user could get grants the action, or the tree does not list
// it.
func (s *search) noRole() resources.PolicyRule {
	return resources.PolicyRule{Reason: s.out.Reason, At: s.policy.GrantingAt(s.q.Action)}
}

// mayKnow says whether the user in question may know a blocking rule: one with the reason of the answer itself, or a condition
// or deny rule that policy shows them.
func (s *search) mayKnow(rule resources.PolicyRule) bool {
	if rule.Reason == s.out.Reason || s.said.AllDenies || s.said.PublicDenies[rule.Reason] {
		return true
	}
	return slices.ContainsFunc(s.said.Conditions, func(c resources.Condition) bool {
		return c.Says == rule.Reason && s.said.Told[c.Name]
	})
}
