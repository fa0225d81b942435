package access

import (
	"context"
	"errors"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// adminDraft is the first admin of a new account; name and externalID may be "".
type adminDraft struct{ email, name, externalID string }

// makeAdmin makes the user with that address the account's admin: a new user, one of no
// account, or one whose invitation to another account has run out.
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

func (s *Service) adminUser(ctx context.Context, tx store.Tx, account string, d adminDraft) (resources.User, error) {
	rec, err := s.c.UserByEmail(ctx, tx, d.email)
	if errors.Is(err, store.ErrNotFound) {
		return s.newAdminUser(ctx, tx, account, d)
	}
	if err != nil {
		return resources.User{}, err
	}
	free, err := s.leaveOld(ctx, tx, &rec.Value)
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

// leaveOld says whether the user may join a new account: one of none, or one whose
// invitation elsewhere binds nobody any more and ends by this.
func (s *Service) leaveOld(ctx context.Context, tx store.Tx, u *resources.User) (bool, error) {
	if u.AccountID == "" || s.Release == nil {
		return u.AccountID == "", nil
	}
	return s.Release(ctx, tx, u)
}

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
	} else if err := s.freeSubject(ctx, tx, d.externalID); err != nil {
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

// freeSubject refuses an external id by which another user can be meant.
func (s *Service) freeSubject(ctx context.Context, tx store.Tx, id string) error {
	free, err := s.c.SubjectFree(ctx, tx, id)
	if err == nil && !free {
		return externalIDInUse(id)
	}
	return err
}

func externalIDInUse(id string) error {
	return resources.Conflict("The external id %s is in use.", id)
}
