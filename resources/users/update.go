package users

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// updateUser answers user.update (E8): it changes the fields that the body has.
func (s *Service) updateUser(ctx context.Context, r *wire.Request) (wire.Response, error) {
	update, err := s.readUpdate(r)
	if err != nil {
		return wire.Response{}, err
	}
	err = s.Store.Transact(ctx, func(tx store.Tx) error {
		account, err := s.beginUpdate(ctx, tx, r, update)
		if err != nil {
			return err
		}
		if err := s.mayUpdate(ctx, tx, r, update, account); err != nil {
			return err
		}
		rec, err := s.findMember(ctx, tx, account, update.user)
		if err != nil {
			return err
		}
		if err := update.checkUser(rec); err != nil {
			return err
		}
		if rec == nil {
			return resources.NotFound(nounUser)
		}
		return s.update(ctx, tx, r.Principal, *rec, update)
	})
	return wire.Answer(messageBody{"The user was updated."}, err)
}

// beginUpdate bumps the revisions and returns the account: the request's or, for a service that
// names none, the user's. The caller reads the user after the bump.
func (s *Service) beginUpdate(ctx context.Context, tx store.Tx, r *wire.Request, u *update) (string, error) {
	account := r.AccountID
	if account == "" {
		rec, err := s.findUser(ctx, tx, u.user)
		if err != nil {
			return "", err
		}
		if rec != nil {
			account = rec.Value.AccountID
		}
	}
	accounts := []string{account}
	if u.changesUnique() {
		accounts = append(accounts, "")
	}
	return account, store.BumpAll(ctx, tx, accounts...)
}

// mayUpdate refuses with FORBIDDEN a caller without the right to update the user, or to change a
// field of the request.
func (s *Service) mayUpdate(ctx context.Context, tx store.Tx, r *wire.Request, u *update, account string) error {
	if syncs(r.Principal) {
		return nil
	}
	decision, err := s.decide(ctx, tx, r.Principal, account, actionUpdate)
	if err != nil {
		return err
	}
	if !decision.Allowed {
		if !isSelf(r.Principal, u.user) {
			return resources.Denied(decision.Reason)
		}
		if err := s.authorizeSelf(ctx, tx, r, account, u.user, resources.KeyScopeWrite); err != nil {
			return err
		}
	}
	if fields := u.forbiddenFields(decision.Allowed); fields != "" {
		return resources.Denied("the caller may not change " + fields)
	}
	return nil
}

// update changes the user's record. It refuses a unique value already in use, and a change after
// which the account has no admin.
func (s *Service) update(ctx context.Context, tx store.Tx, caller resources.Principal, rec userRow, u *update) error {
	before, now := rec.Value, s.now()
	u.fields.apply(&rec.Value, s.IdentityProvider)
	if u.status != "" {
		rec.Value.Status = u.status
	}
	rec.Value.UpdatedAt = now
	if err := s.checkPartnerFree(ctx, tx, before, rec.Value.AuthenticationPartnerID); err != nil {
		return err
	}
	write := func() error { return inUse(s.c.Users.Replace(ctx, tx, rec), rec.Value) }
	if before.Status != resources.StatusActive || rec.Value.Status == resources.StatusActive {
		return write() // only an active user is an admin
	}
	if err := s.c.EndConsoleSessions(ctx, tx, before.ExternalID); err != nil {
		return err
	}
	change := records.RoleChange{AccountID: before.AccountID, Caller: caller, Now: now, UserID: before.ExternalID}
	return s.c.KeepAdmins(ctx, tx, change, write)
}

// checkPartnerFree refuses a provider's subject that names another user than u.
func (s *Service) checkPartnerFree(ctx context.Context, tx store.Tx, u resources.User, id string) error {
	switch id {
	case "", u.AuthenticationPartnerID, u.ExternalID, u.UUID:
		return nil
	}
	free, err := s.c.SubjectFree(ctx, tx, id)
	if err == nil && !free {
		return partnerInUse()
	}
	return err
}

// inUse returns the error of a write, with a conflict in place of a duplicate value.
func inUse(err error, u resources.User) error {
	switch {
	case store.IsDuplicate(err, records.ByEmail):
		return resources.Conflict("The e-mail address %s is in use.", u.Email)
	case store.IsDuplicate(err, records.ByPartner):
		return partnerInUse()
	case store.IsDuplicate(err, ""):
		return externalIDInUse(u.ExternalID)
	}
	return err
}

func partnerInUse() error { return resources.Conflict("The authentication_partner_id is in use.") }

func externalIDInUse(id string) error { return resources.Conflict("The external_id %s is in use.", id) }
