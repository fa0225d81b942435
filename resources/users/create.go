package users

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// recordBody is the response of user.create.
type recordBody struct {
	User userRecord `json:"user"`
}

// createUser answers user.create (N8).
func (s *Service) createUser(_ context.Context, r *wire.Request) (idempotency.Commit, error) {
	if !syncs(r.Principal) {
		return nil, resources.Denied(resources.ReasonNoServiceScope)
	}
	u, err := s.readUser(r)
	if err != nil {
		return nil, err
	}
	u.UUID = s.IDs.UUID()
	if u.ExternalID == "" {
		u.ExternalID = s.IDs.New(resources.PrefixUser)
	}
	return func(ctx context.Context, tx store.Tx) (wire.Response, error) {
		made, err := s.storeUser(ctx, tx, u)
		if err != nil {
			return wire.Response{}, err
		}
		return wire.Created(recordBody{recordOf(made)})
	}, nil
}

// readUser reads the body of user.create; 400 with all problems.
func (s *Service) readUser(r *wire.Request) (resources.User, error) {
	var p wire.Problems
	r.ParseQuery(&p).Done()
	body := r.ParseObject(&p)
	u := resources.User{AuthenticationType: resources.AuthenticationUnknown}
	s.readFields(body).apply(&u, s.IdentityProvider)
	if !body.Has("email") {
		body.Add("email", "is missing")
	}
	u.ExternalID, _ = body.Text("external_id")
	if body.Has("external_id") && !resources.ValidUserID(u.ExternalID) {
		body.Add("external_id", resources.UserIDRule)
	}
	u.AccountID, _ = body.Text("account_id")
	if body.Has("account_id") && !resources.ValidID(u.AccountID) {
		body.Add("account_id", noAccount)
	}
	u.Status = body.OneOf("status", resources.StatusActive, resources.StatusActive, resources.StatusInactive,
		resources.StatusSuspended, resources.StatusWaitlisted, resources.StatusInvited, resources.StatusPending)
	if u.Status == resources.StatusInvited && !body.Has("account_id") {
		body.Add("status", "INVITED needs an account_id")
	}
	if u.Status == resources.StatusInvited && u.AuthenticationPartnerID != "" {
		body.Add("authentication_partner_id", "must be left out of an invitation: the first sign-in sets it")
	}
	body.Done()
	return u, p.Err()
}

// noAccount refuses an account_id of no account.
const noAccount = "is not an account"

// storeUser stores a new user and, for an invited one, the invitation mail.
func (s *Service) storeUser(ctx context.Context, tx store.Tx, u resources.User) (resources.User, error) {
	if err := store.BumpAll(ctx, tx, "", u.AccountID); err != nil {
		return u, err
	}
	now := s.now()
	u.CreatedAt, u.UpdatedAt = now, now
	var account resources.Account
	if u.AccountID != "" {
		rec, err := store.Lookup(s.c.Accounts.Get(ctx, tx, u.AccountID))
		if err != nil {
			return u, err
		}
		if rec == nil {
			return u, resources.BadRequest(resources.Problem{Field: "account_id", Text: noAccount})
		}
		account, u.MemberSince = rec.Value, now
	}
	free, err := s.c.SubjectFree(ctx, tx, u.ExternalID)
	if err != nil {
		return u, err
	}
	if !free {
		return u, externalIDInUse(u.ExternalID)
	}
	if err := s.checkPartnerFree(ctx, tx, resources.User{}, u.AuthenticationPartnerID); err != nil {
		return u, err
	}
	if u.Status == resources.StatusInvited {
		u.InvitedAt = now
	}
	if err := inUse(s.c.Users.Insert(ctx, tx, u), u); err != nil || u.Status != resources.StatusInvited {
		return u, err
	}
	return u, s.storeMail(ctx, tx, account, u)
}
