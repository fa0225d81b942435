package access

import (
	"context"
	"errors"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// adminDraft is the first admin of a new account. name and externalID may be "".
type adminDraft struct{ email, name, externalID string }

// makeAdmin makes the user with the draft's address a member and admin of the account, and
// invites one who has not signed in yet. The user is a new one, one without an account, or one
// whose invitation to another account has expired.
func (s *Service) makeAdmin(
	ctx context.Context, tx store.Tx, account resources.Account, d adminDraft,
) (resources.User, error) {
	user, err := s.adminUser(ctx, tx, account.ID, d)
	if err != nil {
		return resources.User{}, err
	}
	now := s.now()
	assignment := resources.Assignment{
		AccountID: account.ID, RoleID: resources.RoleAccountAdmin, RoleScope: resources.RoleScopeAccount,
		AssigneeType: resources.AssigneeUser, AssigneeID: user.ExternalID,
		Status: resources.StatusActive, CreatedAt: now, UpdatedAt: now,
	}
	assignment.ID = records.AssignmentID(assignment)
	if err := s.c.Assignments.Insert(ctx, tx, assignment); err != nil {
		return resources.User{}, err
	}
	if user.Status == resources.StatusInvited && s.Invite != nil {
		if err := s.Invite(ctx, tx, account, user); err != nil {
			return resources.User{}, err
		}
	}
	return user, nil
}

// adminUser stores the user with the draft's address as a member of the account.
func (s *Service) adminUser(ctx context.Context, tx store.Tx, account string, d adminDraft) (resources.User, error) {
	rec, err := s.c.UserByEmail(ctx, tx, d.email)
	if errors.Is(err, store.ErrNotFound) {
		return s.newAdminUser(ctx, tx, account, d)
	}
	if err != nil {
		return resources.User{}, err
	}
	free, err := s.leaveOldAccount(ctx, tx, &rec.Value)
	switch {
	case err != nil:
		return resources.User{}, err
	case !free:
		return resources.User{}, resources.Conflict("The user with the e-mail address %s is a member of another account.", d.email)
	case d.externalID != "" && d.externalID != rec.Value.ExternalID:
		return resources.User{}, resources.Conflict("The user with the e-mail address %s has another external id.", d.email)
	}
	if rec.Value.Status == resources.StatusInvited {
		rec.Value.InvitedAt = s.now()
	}
	rec.Value.AccountID = account
	rec.Value.MemberSince = s.now()
	rec.Value.UpdatedAt = rec.Value.MemberSince
	return rec.Value, s.c.Users.Replace(ctx, tx, rec)
}

// leaveOldAccount ends an expired membership of the user. It returns whether the user is a
// member of no account then.
func (s *Service) leaveOldAccount(ctx context.Context, tx store.Tx, u *resources.User) (bool, error) {
	if u.AccountID == "" || s.Release == nil {
		return u.AccountID == "", nil
	}
	return s.Release(ctx, tx, u)
}

// newAdminUser stores a new user as a member of the account: an active one where the draft has
// the external id, else an invited one.
func (s *Service) newAdminUser(ctx context.Context, tx store.Tx, account string, d adminDraft) (resources.User, error) {
	now := s.now()
	user := resources.User{
		ExternalID: d.externalID, UUID: s.IDs.UUID(), AccountID: account, Email: d.email, Name: d.name,
		Status: resources.StatusActive, AuthenticationType: resources.AuthenticationUnknown,
		MemberSince: now, CreatedAt: now, UpdatedAt: now,
	}
	if d.externalID == "" {
		user.ExternalID, user.Status = s.IDs.New(resources.PrefixUser), resources.StatusInvited
		user.InvitedAt = now
	} else if err := s.checkSubjectFree(ctx, tx, d.externalID); err != nil {
		return resources.User{}, err
	}
	err := s.c.Users.Insert(ctx, tx, user)
	switch {
	case store.IsDuplicate(err, ""):
		return resources.User{}, externalIDInUse(user.ExternalID)
	case store.IsDuplicate(err, records.ByEmail):
		return resources.User{}, resources.Conflict("The e-mail address %s is in use.", d.email)
	}
	return user, err
}

// checkSubjectFree refuses an external id that names another user.
func (s *Service) checkSubjectFree(ctx context.Context, tx store.Tx, id string) error {
	free, err := s.c.SubjectFree(ctx, tx, id)
	if err == nil && !free {
		return externalIDInUse(id)
	}
	return err
}

func externalIDInUse(id string) error {
	return resources.Conflict("The external id %s is in use.", id)
}
