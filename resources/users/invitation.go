package users

import (
	"context"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// mailEvery is the least time between two invitations by mail to one user.
const mailEvery = resources.Time(time.Minute / time.Millisecond)

// SendInvitation invites a user whose record is stored already: it notes when, and puts
// the mail into the outbox, all in the caller's transaction, which has called Bump for
// the account. Other areas that make an invited user are given it.
func (s *Service) SendInvitation(ctx context.Context, tx store.Tx, account resources.Account, user resources.User) error {
	rec, err := s.c.Users.Get(ctx, tx, user.ExternalID)
	if err != nil {
		return err
	}
	rec.Value.InvitedAt = s.now()
	if err := s.c.Users.Replace(ctx, tx, rec); err != nil {
		return err
	}
	return s.mail(ctx, tx, account, rec.Value)
}

// Release ends the membership of a user who may join another account, in the value and in
// everything that they have; false where they stay. The caller's transaction has called Bump
// for the user's account and stores the user. Other areas that make a member are given it.
func (s *Service) Release(ctx context.Context, tx store.Tx, user *resources.User) (bool, error) {
	if !s.free(*user) {
		return false, nil
	}
	return true, s.leave(ctx, tx, user, s.now())
}

// mail puts the invitation of a user, invited now, into the outbox.
func (s *Service) mail(ctx context.Context, tx store.Tx, account resources.Account, u resources.User) error {
	return s.c.Outbox.Insert(ctx, tx, s.Invite(account, u, u.InvitedAt))
}

// binds says whether the user's invitation is not too old to be signed in with, and to
// keep another account from inviting them.
func (s *Service) binds(u resources.User) bool {
	return s.now()-u.InvitedAt <= resources.Time(s.InvitationTTL.Milliseconds())
}

// mailedLately says how long it is until the user may be sent another invitation; zero
// is now. A clock that was set back makes nobody wait for longer.
func (s *Service) mailedLately(u resources.User) time.Duration {
	wait := min(u.InvitedAt+mailEvery-s.now(), mailEvery)
	return time.Duration(max(wait, 0)) * time.Millisecond
}
