package users

import (
	"context"
	"fmt"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// claim is what a subject finds when it comes to an address.
type claim int

const (
	claimNone  claim = iota // no invitation that this subject could take
	claimOpen               // one that it can
	claimTaken              // one that it took a moment ago, in another request
)

// SignIn is the first sign-in of somebody who was invited: the subject of a checked
// token, whose verified e-mail is the address, and whom no user's id names. The one
// user who was invited with that address, and did not sign in yet, becomes ACTIVE and
// is that subject from then on. done says that the subject names an active user now;
// false refuses it. An error says that it could not be found out.
func (s *Service) SignIn(ctx context.Context, subject, email string) (done bool, err error) {
	if !validSubject(subject) || !resources.ValidEmail(email) {
		return false, nil
	}
	var found claim
	// A stranger's token costs a look, not a transaction.
	err = s.Store.View(ctx, func(tx store.Tx) (err error) {
		_, found, err = s.claim(ctx, tx, subject, email)
		return err
	})
	if err == nil && found == claimOpen {
		err = s.Store.Transact(ctx, func(tx store.Tx) (err error) {
			found, err = s.take(ctx, tx, subject, email)
			return err
		})
	}
	if err != nil {
		return false, fmt.Errorf("users: first sign-in: %w", err)
	}
	return found == claimTaken, nil
}

// take gives the invitation to the subject, if it is still open.
func (s *Service) take(ctx context.Context, tx store.Tx, subject, email string) (claim, error) {
	rec, found, err := s.claim(ctx, tx, subject, email)
	if err != nil || found != claimOpen {
		return found, err
	}
	if err := bump(ctx, tx, "", rec.Value.AccountID); err != nil {
		return claimNone, err
	}
	rec, found, err = s.claim(ctx, tx, subject, email) // again, with the revisions held
	if err != nil || found != claimOpen {
		return found, err
	}
	u := &rec.Value
	u.Status, u.IsVerified, u.UpdatedAt = resources.StatusActive, true, s.now()
	u.AuthenticationPartner, u.AuthenticationPartnerID = s.IdentityProvider, subject
	if err := s.c.Users.Replace(ctx, tx, *rec); err != nil {
		return claimNone, err
	}
	return claimTaken, nil
}

// claim looks for the address's invitation. A member who was removed before they signed
// in has none any more.
func (s *Service) claim(ctx context.Context, tx store.Tx, subject, email string) (*userRow, claim, error) {
	rec, err := store.Lookup(s.c.UserByEmail(ctx, tx, email))
	if err != nil || rec == nil {
		return nil, claimNone, err
	}
	u := rec.Value
	if u.AuthenticationPartnerID == subject && u.Status == resources.StatusActive {
		return rec, claimTaken, nil
	}
	if u.Status != resources.StatusInvited || u.AuthenticationPartnerID != "" || u.AccountID == "" || !s.binds(u) {
		return nil, claimNone, nil
	}
	free, err := s.c.SubjectFree(ctx, tx, subject)
	if err != nil || !free {
		return nil, claimNone, err
	}
	return rec, claimOpen, nil
}
