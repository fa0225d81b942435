package access

import (
	"context"
	"errors"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// accountRoutes returns the handlers of accounts and projects.
func (s *Service) accountRoutes() wire.Routes {
	return wire.Named("access", wire.Routes{
		"account.create": s.Idempotency.Create("account.create", s.createAccount),
		"account.get":    s.getAccount,
		"account.update": s.updateAccount,
		"project.create": s.Idempotency.Create("project.create", s.createProject),
		"project.list":   s.listProjects,
		"project.update": s.updateProject,
		"project.delete": s.deleteProject,
	})
}

// accountBody is the response of account.get and account.update.
type accountBody struct {
	Account resources.Account `json:"account"`
}

// getAccount answers account.get (N2). Only a service can name an account that does not exist.
func (s *Service) getAccount(ctx context.Context, r *wire.Request) (wire.Response, error) {
	find := func(ctx context.Context, tx store.Tx, r *wire.Request) (store.Record[resources.Account], error) {
		return s.findAccount(ctx, tx, r.Params["accountId"])
	}
	return read(ctx, s, r, find, func(one resources.Account) any { return accountBody{one} })
}

// findAccount reads an account; 404 for an unknown one.
func (s *Service) findAccount(ctx context.Context, tx store.Tx, id string) (store.Record[resources.Account], error) {
	rec, err := s.c.Accounts.Get(ctx, tx, id)
	if errors.Is(err, store.ErrNotFound) {
		return rec, resources.NotFound("account")
	}
	return rec, err
}

// updateAccount answers account.update (N2). Only services may call it, whose permissions are in
// their token, so policy is not asked again.
func (s *Service) updateAccount(ctx context.Context, r *wire.Request) (wire.Response, error) {
	var p wire.Problems
	noQuery(r, &p)
	body := r.ParseObject(&p)
	name, renamed := optionalName(body, &p)
	status := body.OneOf("status", "", resources.StatusActive, resources.StatusSuspended)
	if !body.Has("name") && !body.Has("status") {
		p.Add("", "at least one of name and status is needed")
	}
	body.Done()
	if err := p.Err(); err != nil {
		return wire.Response{}, err
	}
	var changed resources.Account
	err := s.Store.Transact(ctx, func(tx store.Tx) error {
		id := r.Params["accountId"]
		if _, err := tx.Bump(ctx, id); err != nil {
			return err
		}
		rec, err := s.findAccount(ctx, tx, id)
		if err != nil {
			return err
		}
		if renamed {
			rec.Value.Name = name
		}
		if status != "" {
			rec.Value.Status = status
		}
		rec.Value.UpdatedAt = s.now()
		changed = rec.Value
		return s.c.Accounts.Replace(ctx, tx, rec)
	})
	return wire.Answer(accountBody{changed}, err)
}
