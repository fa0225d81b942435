package access

import (
	"context"
	"errors"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// accountDraft is an account that is to be made. Its fields are valid.
type accountDraft struct {
	id, name string
	admin    adminDraft
}

// accountMade is the response of account.create.
type accountMade struct {
	Account resources.Account     `json:"account"`
	Admin   resources.UserProfile `json:"admin"`
}

// createAccount answers account.create (N1).
func (s *Service) createAccount(_ context.Context, r *wire.Request) (idempotency.Commit, error) {
	var p wire.Problems
	noQuery(r, &p)
	draft := readAccount(r, &p)
	if err := p.Err(); err != nil {
		return nil, err
	}
	if draft.id == "" {
		draft.id = s.IDs.New(resources.PrefixAccount)
	}
	return func(ctx context.Context, tx store.Tx) (wire.Response, error) {
		made, err := s.makeAccount(ctx, tx, draft)
		if err != nil {
			return wire.Response{}, err
		}
		return wire.Created(made)
	}, nil
}

// readAccount reads the body of account.create.
func readAccount(r *wire.Request, p *wire.Problems) accountDraft {
	body := r.ParseObject(p)
	var d accountDraft
	if id, ok := body.Text("id"); ok {
		checkPatternID(p, body.Field("id"), resources.PrefixAccount, id)
		d.id = id
	}
	d.name = requiredName(body, p)
	admin, ok := body.Object("admin")
	switch {
	case ok:
		d.admin = readAdmin(admin, p)
	case !body.Has("admin"):
		body.Add("admin", "is missing")
	}
	body.Done()
	return d
}

// readAdmin reads the admin in the body of account.create.
func readAdmin(o *wire.Object, p *wire.Problems) adminDraft {
	d := adminDraft{email: o.Required("email")}
	if d.email != "" {
		checkEmail(p, o.Field("email"), d.email)
	}
	d.name, _ = optionalName(o, p)
	if id, ok := o.Text("external_id"); ok {
		checkUserID(p, o.Field("external_id"), id)
		d.externalID = id
	}
	o.Done()
	return d
}

// makeAccount makes the account and its admin.
//
// It bumps the revision of three accounts: the new one, "" for users without an account, and the
// one the admin may leave. Two calls for one new address conflict on the account "", so only one of
// them makes a user.
func (s *Service) makeAccount(ctx context.Context, tx store.Tx, d accountDraft) (accountMade, error) {
	user, err := s.c.UserByEmail(ctx, tx, d.admin.email)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return accountMade{}, err
	}
	if err := store.BumpAll(ctx, tx, "", d.id, user.Value.AccountID); err != nil { // the last is "" for a new user
		return accountMade{}, err
	}
	now := s.now()
	account := resources.Account{
		ID: d.id, Name: d.name, Status: resources.StatusActive, CreatedAt: now, UpdatedAt: now,
	}
	if err := s.c.Accounts.Insert(ctx, tx, account); err != nil {
		if store.IsDuplicate(err, "") {
			return accountMade{}, resources.Conflict("The account id %s is in use.", d.id)
		}
		return accountMade{}, err
	}
	admin, err := s.makeAdmin(ctx, tx, account, d.admin)
	if err != nil {
		return accountMade{}, err
	}
	return accountMade{Account: account, Admin: admin.Profile()}, nil
}
