package users

import (
	"context"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// mailEvery is the least time between two invitation mails to one user.
const mailEvery = resources.Time(time.Minute / time.Millisecond)

// SendInvitation stores the time of the invitation in the user's record and the mail in the
// outbox. The transaction has bumped the revision of the account. Other areas that make invited
// users call it too.
func (s *Service) SendInvitation(ctx context.Context, tx store.Tx, account resources.Account, user resources.User) error {
	rec, err := s.c.Users.Get(ctx, tx, user.ExternalID)
	if err != nil {
		return err
	}
	rec.Value.InvitedAt = s.now()
	if err := s.c.Users.Replace(ctx, tx, rec); err != nil {
		return err
	}
	return s.storeMail(ctx, tx, account, rec.Value)
}

// Release ends the membership of a user who can join another account: it deletes the user's records
// in the old one and changes user. The caller stores user. It returns false for a user who stays a
// member. The transaction has bumped the revision of the user's account. Other areas with new
// members call it too.
func (s *Service) Release(ctx context.Context, tx store.Tx, user *resources.User) (bool, error) {
	now := s.now()
	if !s.canJoin(*user, now) {
		return false, nil
	}
	return true, s.leave(ctx, tx, user, now)
}

// storeMail stores the invitation mail to a user in the outbox.
func (s *Service) storeMail(ctx context.Context, tx store.Tx, account resources.Account, u resources.User) error {
	return s.c.Outbox.Insert(ctx, tx, s.Invite(account, u, u.InvitedAt))
}

// invitationValid says whether the user's invitation has not expired.
func (s *Service) invitationValid(u resources.User, now resources.Time) bool {
	return now-u.InvitedAt <= resources.Time(s.InvitationTTL.Milliseconds())
}

// mailDelay returns how long it is until the user may get another invitation mail: zero to
// mailEvery, even if a clock was set back.
func (s *Service) mailDelay(u resources.User) time.Duration {
	wait := min(u.InvitedAt+mailEvery-s.now(), mailEvery)
	return time.Duration(max(wait, 0)) * time.Millisecond
}
