package users

import (
	"context"
	"fmt"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/changes"
	"github.com/portcullis-authz/portcullis/store"
)

// invitation is the state of an address's invitation, for a subject that signs in.
type invitation int

const (
	invitationNone     invitation = iota // there is none for this subject
	invitationOpen                       // the subject can accept it
	invitationAccepted                   // the subject has accepted it
)

// SignIn does the first sign-in of an invited user. subject is a verified token's, without a user
// yet; email is the token's verified address. The user invited with that address becomes ACTIVE and
// gets the subject. done reports that the subject has an active user now; otherwise the caller
// refuses the token. An error is a failure of the store.
func (s *Service) SignIn(ctx context.Context, subject, email string) (done bool, err error) {
	if !validSubject(subject) || !resources.ValidEmail(email) {
		return false, nil
	}
	var inv invitation
	// A token without an invitation costs a read, not a transaction.
	err = s.Store.View(ctx, func(tx store.Tx) (err error) {
		_, inv, err = s.findInvitation(ctx, tx, subject, email)
		return err
	})
	if err == nil && inv == invitationOpen {
		err = s.Store.Transact(changes.OfSystem(ctx, "user.sign_in"), func(tx store.Tx) (err error) {
			inv, err = s.acceptInvitation(ctx, tx, subject, email)
			return err
		})
	}
	if err != nil {
		return false, fmt.Errorf("users: first sign-in: %w", err)
	}
	return inv == invitationAccepted, nil
}

// acceptInvitation gives the subject the user of the invitation, if it is still open.
func (s *Service) acceptInvitation(ctx context.Context, tx store.Tx, subject, email string) (invitation, error) {
	rec, inv, err := s.findInvitation(ctx, tx, subject, email)
	if err != nil || inv != invitationOpen {
		return inv, err
	}
	if err := store.BumpAll(ctx, tx, "", rec.Value.AccountID); err != nil {
		return invitationNone, err
	}
	rec, inv, err = s.findInvitation(ctx, tx, subject, email) // again, after the bumps
	if err != nil || inv != invitationOpen {
		return inv, err
	}
	u := &rec.Value
	u.Status, u.IsVerified, u.UpdatedAt = resources.StatusActive, true, s.now()
	u.AuthenticationPartner, u.AuthenticationPartnerID = s.IdentityProvider, subject
	if err := s.c.Users.Replace(ctx, tx, *rec); err != nil {
		return invitationNone, err
	}
	return invitationAccepted, nil
}

// findInvitation reads the invited user with the address, and returns the state of
// their invitation for the subject. A user who was removed before they signed in has no invitation.
func (s *Service) findInvitation(ctx context.Context, tx store.Tx, subject, email string) (*userRow, invitation, error) {
	rec, err := store.Lookup(s.c.UserByEmail(ctx, tx, email))
	if err != nil || rec == nil {
		return nil, invitationNone, err
	}
	u := rec.Value
	if u.AuthenticationPartnerID == subject && u.Status == resources.StatusActive {
		return rec, invitationAccepted, nil
	}
	if u.Status != resources.StatusInvited || u.AuthenticationPartnerID != "" || u.AccountID == "" || !s.invitationValid(u, s.now()) {
		return nil, invitationNone, nil
	}
	free, err := s.c.SubjectFree(ctx, tx, subject)
	if err != nil || !free {
		return nil, invitationNone, err
	}
	return rec, invitationOpen, nil
}
