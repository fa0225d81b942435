package firewall

import (
	"context"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// ruleBody is the response with one rule.
type ruleBody struct {
	Rule    resources.SecurityGroupRule `json:"security_group_rule"`
	Message string                      `json:"message"`
}

// createRule answers security_group_rule.create (N11).
func (s *Service) createRule(ctx context.Context, r *wire.Request) (idempotency.Commit, error) {
	var p wire.Problems
	r.ParseQuery(&p).Done()
	drafts := []ruleDraft{readRule(r.ParseObject(&p))}
	if err := s.withRemoteProblems(ctx, &p, placeOf(r), drafts); err != nil {
		return nil, err
	}
	rule := s.newRule(drafts[0], r.Params["id"], s.now())
	return func(ctx context.Context, tx store.Tx) (wire.Response, error) {
		if err := s.checkCaller(ctx, tx, r); err != nil {
			return wire.Response{}, err
		}
		if err := s.checkRemotes(ctx, tx, placeOf(r), drafts); err != nil {
			return wire.Response{}, err
		}
		rec, err := s.pathGroup(ctx, tx, r)
		if err != nil {
			return wire.Response{}, err
		}
		if err := s.addRule(ctx, tx, rec, rule); err != nil {
			return wire.Response{}, err
		}
		return wire.Created(ruleBody{rule, "The rule was added."})
	}, nil
}

// newRule makes the rule of a draft.
func (s *Service) newRule(draft ruleDraft, group string, now resources.Time) resources.SecurityGroupRule {
	rule := draft.rule
	rule.ID, rule.SecurityGroupID = s.IDs.New(resources.PrefixSecurityGroupRule), group
	rule.CreatedAt, rule.UpdatedAt = now, now
	return rule
}

// addRule adds the rule to the group. It refuses an equal rule and one too many. The group was read in
// the same transaction.
func (s *Service) addRule(
	ctx context.Context, tx store.Tx, rec store.Record[resources.SecurityGroup], rule resources.SecurityGroupRule,
) error {
	group := rec.Value
	if err := s.enter(ctx, tx, groupPlace{group.AccountID, group.ProjectID}); err != nil {
		return err
	}
	for _, other := range group.Rules {
		if identityOf(other) == identityOf(rule) {
			return resources.Conflict("The group has this rule already: %s.", other.ID)
		}
	}
	if len(group.Rules) >= s.MaxRules {
		return s.rulesFull()
	}
	group.Rules = append(slices.Clip(group.Rules), rule)
	if err := checkSize(rec.Value, group); err != nil {
		return err
	}
	return s.setRules(ctx, tx, rec, group.Rules)
}

// rulesFull returns the refusal of more rules than a group may have.
func (s *Service) rulesFull() error {
	return resources.Conflict("A security group has at most %d rules.", s.MaxRules)
}
