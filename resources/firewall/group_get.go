package firewall

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// getGroup answers security_group.get (N11).
func (s *Service) getGroup(ctx context.Context, r *wire.Request) (wire.Response, error) {
	if err := r.Bare(); err != nil {
		return wire.Response{}, err
	}
	var rec store.Record[resources.SecurityGroup]
	err := s.Store.View(ctx, func(tx store.Tx) (err error) {
		rec, err = s.pathGroup(ctx, tx, r)
		return err
	})
	return wire.Answer(groupBody{rec.Value, "This is the security group."}, err)
}
