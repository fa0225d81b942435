package users

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// resendInvitation answers user.resend_invitation (N16): it sends another mail, with which the time
// of the invitation begins again.
func (s *Service) resendInvitation(_ context.Context, r *wire.Request) (idempotency.Commit, error) {
	if err := r.Bare(); err != nil {
		return nil, err
	}
	account := r.Params["accountId"]
	return func(ctx context.Context, tx store.Tx) (wire.Response, error) {
		if err := store.BumpAll(ctx, tx, account); err != nil {
			return wire.Response{}, err
		}
		if err := s.reauthorize(ctx, tx, r.Principal, account, actionInvite); err != nil {
			return wire.Response{}, err
		}
		rec, err := s.findMember(ctx, tx, account, r.Params["userId"])
		if err != nil {
			return wire.Response{}, err
		}
		if err := s.checkMailAllowed(rec); err != nil {
			return wire.Response{}, err
		}
		acct, err := s.c.Accounts.Get(ctx, tx, account)
		if err != nil {
			return wire.Response{}, err
		}
		if err := s.SendInvitation(ctx, tx, acct.Value, rec.Value); err != nil {
			return wire.Response{}, err
		}
		return wire.OK(messageBody{invitationSent})
	}, nil
}

// checkMailAllowed refuses a mail to a user without an open invitation, and a second one within a
// minute.
func (s *Service) checkMailAllowed(rec *userRow) error {
	if rec == nil {
		return resources.NotFound(nounUser)
	}
	if rec.Value.Status != resources.StatusInvited {
		return resources.Conflict("The user has no open invitation: their status is %s.", rec.Value.Status)
	}
	if wait := s.mailDelay(rec.Value); wait > 0 {
		return &resources.Error{
			Kind: resources.KindRateLimited, RetryAfter: wait,
			Message: "An invitation was sent less than a minute ago; wait before sending another one.",
		}
	}
	return nil
}
