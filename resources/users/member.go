package users

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// nounUser names a user in an error.
const nounUser = "user"

// roleTeamMember is the system role of every invited user.
const roleTeamMember = "team_member"

// userRow is a user's record in the store.
type userRow = store.Record[resources.User]

// findUser reads the user with that external id or UUID, nil for none. No string is the external id of one user and the
// UUID of another (records.Collections.SubjectFree).
func (s *Service) findUser(ctx context.Context, tx store.Tx, id string) (*userRow, error) {
	rec, err := store.Lookup(s.c.Users.Get(ctx, tx, id))
	if err != nil || rec != nil {
		return rec, err
	}
	return store.Lookup(s.c.Users.First(ctx, tx, store.Query{Index: records.ByUUID, Equal: []store.Value{store.String(id)}}))
}

// findMember reads the member of the account with that external id or UUID, nil for none.
func (s *Service) findMember(ctx context.Context, tx store.Tx, account, id string) (*userRow, error) {
	rec, err := s.findUser(ctx, tx, id)
	if err != nil || rec == nil || rec.Value.AccountID != account {
		return nil, err
	}
	return rec, nil
}

// join makes the user a team member of the account. It changes u, which the caller stores, and
// stores the assignment of the role.
func (s *Service) join(ctx context.Context, tx store.Tx, u *resources.User, account string, now resources.Time) error {
	u.AccountID, u.MemberSince, u.UpdatedAt = account, now, now
	a := resources.Assignment{
		AccountID: account, RoleID: roleTeamMember, RoleScope: resources.RoleScopeAccount,
		AssigneeType: resources.AssigneeUser, AssigneeID: u.ExternalID,
		Status: resources.StatusActive, CreatedAt: now, UpdatedAt: now,
	}
	a.ID = records.AssignmentID(a)
	return s.c.Assignments.Insert(ctx, tx, a)
}

// leave ends the user's membership of their account: it deletes their assignments, memberships of
// groups, delegations, approvals, API keys and sessions of the console, so a user who comes back starts without them. An
// invitee who never signed in is INVITED again: with another status, no later invitation could be accepted. It changes u,
// which the caller stores.
func (s *Service) leave(ctx context.Context, tx store.Tx, u *resources.User, now resources.Time) error {
	account, user := store.String(u.AccountID), store.String(u.ExternalID)
	held := store.Query{Index: records.ByAssignee, Equal: []store.Value{account, store.String(resources.AssigneeUser), user}}
	if err := s.c.Assignments.DeleteAll(ctx, tx, held); err != nil {
		return err
	}
	query := store.Query{Index: records.ByUser, Equal: []store.Value{account, user}}
	if err := s.c.Members.DeleteAll(ctx, tx, query); err != nil {
		return err
	}
	if err := s.c.Delegations.DeleteAll(ctx, tx, query); err != nil {
		return err
	}
	if err := s.c.Approvals.DeleteAll(ctx, tx, query); err != nil {
		return err
	}
	if err := s.c.EndConsoleSessions(ctx, tx, u.ExternalID); err != nil {
		return err
	}
	keys, err := s.c.APIKeys.Find(ctx, tx, query)
	if err != nil {
		return err
	}
	ids := make([]string, len(keys))
	for i, key := range keys {
		ids[i] = key.Value.ID
	}
	uses, err := s.c.KeyUses.GetAll(ctx, tx, ids)
	if err != nil {
		return err
	}
	for _, use := range uses {
		if err := s.c.KeyUses.Delete(ctx, tx, use); err != nil {
			return err
		}
	}
	if err := s.c.APIKeys.DeleteAll(ctx, tx, query); err != nil {
		return err
	}
	u.AccountID, u.MemberSince, u.UpdatedAt = "", 0, now
	if u.InvitedAt != 0 && u.AuthenticationPartnerID == "" {
		u.Status = resources.StatusInvited
	}
	return nil
}
