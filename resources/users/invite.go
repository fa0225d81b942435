package users

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// inviteUser answers user.invite (E11). It makes the ids of a new user once, however often the
// transaction runs.
func (s *Service) inviteUser(_ context.Context, r *wire.Request) (idempotency.Commit, error) {
	var p wire.Problems
	r.ParseQuery(&p).Done()
	body := r.ParseObject(&p)
	email := body.Required("email")
	if email != "" && !resources.ValidEmail(email) {
		body.Add("email", "%s", resources.EmailRule)
	}
	body.Done()
	if err := p.Err(); err != nil {
		return nil, err
	}
	draft := resources.User{
		ExternalID: s.IDs.New(resources.PrefixUser), UUID: s.IDs.UUID(), Email: email,
		Status: resources.StatusInvited, AuthenticationType: resources.AuthenticationUnknown,
	}
	account := r.Params["account_id"]
	return func(ctx context.Context, tx store.Tx) (wire.Response, error) {
		now := s.now()
		if err := s.beginInvite(ctx, tx, account, email, now); err != nil {
			return wire.Response{}, err
		}
		if err := s.reauthorize(ctx, tx, r.Principal, account, actionInvite); err != nil {
			return wire.Response{}, err
		}
		message, err := s.invite(ctx, tx, account, draft, now)
		return wire.Answer(messageBody{message}, err)
	}, nil
}

// beginInvite bumps the revisions of the account, of the account "", and of the account that the
// user may leave. invite is called with the same time.
func (s *Service) beginInvite(ctx context.Context, tx store.Tx, account, email string, now resources.Time) error {
	rec, err := store.Lookup(s.c.UserByEmail(ctx, tx, email))
	if err != nil {
		return err
	}
	accounts := []string{"", account}
	if rec != nil && s.canJoin(rec.Value, now) {
		accounts = append(accounts, rec.Value.AccountID)
	}
	return store.BumpAll(ctx, tx, accounts...)
}

// invite makes the user with the draft's address a member of the account, and returns the message
// of the response. It refuses a member of another account.
func (s *Service) invite(ctx context.Context, tx store.Tx, account string, draft resources.User, now resources.Time) (string, error) {
	acct, err := store.Lookup(s.c.Accounts.Get(ctx, tx, account))
	if err != nil {
		return "", err
	}
	if acct == nil { // only a service can name an account that does not exist
		return "", resources.NotFound("account")
	}
	rec, err := store.Lookup(s.c.UserByEmail(ctx, tx, draft.Email))
	switch {
	case err != nil:
		return "", err
	case rec == nil:
		return s.inviteNew(ctx, tx, acct.Value, draft, now)
	case rec.Value.AccountID == account:
		return "The user is a member of the account already.", nil
	case !s.canJoin(rec.Value, now):
		return "", resources.Conflict("The user with this e-mail address is a member of another account.")
	}
	return s.inviteKnown(ctx, tx, acct.Value, *rec, now)
}

// canJoin says whether a user can become a member of an account: they are a member of none, or
// their invitation to another one has expired.
func (s *Service) canJoin(u resources.User, now resources.Time) bool {
	return u.AccountID == "" || u.Status == resources.StatusInvited && !s.invitationValid(u, now)
}

// inviteNew stores the new user as a member, with the invitation mail.
func (s *Service) inviteNew(ctx context.Context, tx store.Tx, account resources.Account, u resources.User, now resources.Time) (string, error) {
	u.InvitedAt, u.CreatedAt = now, now
	if err := s.join(ctx, tx, &u, account.ID, now); err != nil {
		return "", err
	}
	if err := inUse(s.c.Users.Insert(ctx, tx, u), u); err != nil {
		return "", err
	}
	return invitationSent, s.storeMail(ctx, tx, account, u)
}

// inviteKnown makes a user who can join a member. A user who has signed in before gets no mail. One
// who has not gets another invitation mail, but not within a minute of the last one: else
// removing and inviting a user would evade the limit of user.resend_invitation.
func (s *Service) inviteKnown(ctx context.Context, tx store.Tx, account resources.Account, rec userRow, now resources.Time) (string, error) {
	u := &rec.Value
	if u.AccountID != "" {
		if err := s.leave(ctx, tx, u, now); err != nil {
			return "", err
		}
	}
	if err := s.join(ctx, tx, u, account.ID, now); err != nil {
		return "", err
	}
	mails := u.Status == resources.StatusInvited && s.mailDelay(*u) == 0
	if mails {
		u.InvitedAt = now
	}
	if err := s.c.Users.Replace(ctx, tx, rec); err != nil {
		return "", err
	}
	if mails {
		return invitationSent, s.storeMail(ctx, tx, account, *u)
	}
	return "The user is a member of the account now.", nil
}

// invitationSent is the message of a response after a mail.
const invitationSent = "The invitation is sent."
