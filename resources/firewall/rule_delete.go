package firewall

import (
	"context"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// deleteRule answers security_group_rule.delete (N11). A repeat is answered 404.
func (s *Service) deleteRule(ctx context.Context, r *wire.Request) (wire.Response, error) {
	if err := r.Bare(); err != nil {
		return wire.Response{}, err
	}
	err := s.Store.Transact(ctx, func(tx store.Tx) error {
		if err := s.checkCaller(ctx, tx, r); err != nil {
			return err
		}
		rec, err := s.pathGroup(ctx, tx, r)
		if err != nil {
			return err
		}
		index := slices.IndexFunc(rec.Value.Rules, func(rule resources.SecurityGroupRule) bool { return rule.ID == r.Params["ruleId"] })
		if index < 0 {
			return resources.NotFound("security group rule")
		}
		return s.setRules(ctx, tx, rec, slices.Delete(slices.Clone(rec.Value.Rules), index, index+1))
	})
	return wire.Answer(doneBody{"The rule was deleted."}, err)
}
