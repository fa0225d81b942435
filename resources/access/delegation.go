package access

import (
	"context"
	"errors"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// delegationBody is the response with one delegation.
type delegationBody struct {
	Delegation resources.Delegation `json:"delegation"`
}

// delegationList is the response of delegation.list.
type delegationList struct {
	Delegations []resources.Delegation `json:"delegations"`
	listMeta
}

// putDelegation answers delegation.put (N26). The user gives the delegation with a token that no agent uses.
func (s *Service) putDelegation(ctx context.Context, r *wire.Request) (wire.Response, error) {
	if err := ownByToken(r, "gives a delegation"); err != nil {
		return wire.Response{}, err
	}
	var p wire.Problems
	noQuery(r, &p)
	body := r.ParseObject(&p)
	wanted := resources.Delegation{
		AccountID: r.Params["accountId"], UserID: pathUser(r), AgentID: r.Params["agentId"], Permissions: readPermissions(body),
	}
	wanted.ProjectID, _ = readBodyID(body, "project_id")
	now := s.now()
	if t, ok := body.Time("expires_at"); ok {
		if wanted.ExpiresAt = t; t <= now {
			body.Add("expires_at", "must be in the future")
		}
	}
	body.Done()
	err := store.CommitNotFound(ctx, s.Store, func(tx store.Tx) error {
		if err := s.beginOwn(ctx, tx, r); err != nil {
			return err
		}
		problems := p
		if wanted.ProjectID != "" {
			state, err := s.c.ProjectState(ctx, tx, wanted.AccountID, wanted.ProjectID)
			if err != nil {
				return err
			}
			if state != resources.ProjectActive {
				problems.Add("project_id", "is not an active project of this account")
			}
		}
		if err := problems.Err(); err != nil {
			return err
		}
		if _, err := s.pathAgent(ctx, tx, r); err != nil {
			return err
		}
		return s.writeDelegation(ctx, tx, &wanted, now)
	})
	return wire.Answer(delegationBody{wanted}, err)
}

// ownByToken refuses other users, API keys, and clients that act for the user. It doesn't rely on the route's row in the
// policy tree. does says what the route does, for the refusal.
func ownByToken(r *wire.Request, does string) error {
	_, agent := r.Principal.Client.Agent()
	switch {
	case !isOwn(r):
		return resources.Forbidden("Only the user %s.", does)
	case r.Principal.Credential != resources.CredentialToken:
		return resources.Forbidden("The user %s with a token, and not with an API key.", does)
	case agent:
		return resources.Forbidden("The user %s, and not a client that acts for the user.", does)
	}
	return nil
}

// writeDelegation stores the delegation in place of an earlier one.
func (s *Service) writeDelegation(ctx context.Context, tx store.Tx, d *resources.Delegation, now resources.Time) error {
	d.CreatedAt, d.UpdatedAt = now, now
	given, err := store.Lookup(s.c.Delegations.Get(ctx, tx, records.DelegationID(d.AccountID, d.UserID, d.AgentID)))
	if err != nil {
		return err
	}
	if given == nil {
		return s.c.Delegations.Insert(ctx, tx, *d)
	}
	d.CreatedAt = given.Value.CreatedAt
	given.Value = *d
	return s.c.Delegations.Replace(ctx, tx, *given)
}

// isOwn reports whether the caller is the user of the path.
func isOwn(r *wire.Request) bool {
	return r.Principal.Kind == resources.PrincipalUser && pathUser(r) == r.Principal.ID
}

// beginOwn begins a change by the user of the path, who needs no permission for it.
func (s *Service) beginOwn(ctx context.Context, tx store.Tx, r *wire.Request) error {
	account := r.Params["accountId"]
	if _, err := tx.Bump(ctx, account); err != nil {
		return err
	}
	_, err := s.c.LoadCaller(ctx, tx, account, r.Principal, s.now())
	return err
}

// pathUser returns the external id of the user in the path. The caller's own UUID names the caller.
func pathUser(r *wire.Request) string {
	user := r.Params["userId"]
	if r.Principal.Kind == resources.PrincipalUser && r.Principal.UUID != "" && user == r.Principal.UUID {
		return r.Principal.ID
	}
	return user
}

// listDelegations answers delegation.list (N26), in the order of creation.
func (s *Service) listDelegations(ctx context.Context, r *wire.Request) (wire.Response, error) {
	account, user := r.Params["accountId"], pathUser(r)
	delegations, page, err := listByToken(ctx, s, r, s.c.Delegations, listing{
		query:   store.Query{Index: records.ByUser, Equal: []store.Value{store.String(account), store.String(user)}},
		binding: binding("delegation.list", account, user),
		check: func(tx store.Tx) error {
			exists, err := s.assigneeExists(ctx, tx, account, resources.AssigneeUser, user)
			if err == nil && !exists {
				err = resources.NotFound(assigneeNoun(resources.AssigneeUser))
			}
			return err
		},
	})
	return wire.Answer(delegationList{delegations, page}, err)
}

// getDelegation answers delegation.get (N26).
func (s *Service) getDelegation(ctx context.Context, r *wire.Request) (wire.Response, error) {
	return read(ctx, s, r, s.pathDelegation, func(one resources.Delegation) any { return delegationBody{one} })
}

// deleteDelegation answers delegation.delete (N26). The user ends it, or somebody with the action.
func (s *Service) deleteDelegation(ctx context.Context, r *wire.Request) (wire.Response, error) {
	if err := r.Bare(); err != nil {
		return wire.Response{}, err
	}
	err := store.CommitNotFound(ctx, s.Store, func(tx store.Tx) error {
		var err error
		if isOwn(r) {
			err = s.beginOwn(ctx, tx, r)
		} else {
			_, err = s.beginChange(ctx, tx, r, "account:delegation:delete")
		}
		if err != nil {
			return err
		}
		rec, err := s.pathDelegation(ctx, tx, r)
		if err != nil {
			return err
		}
		return s.c.Delegations.Delete(ctx, tx, rec)
	})
	return done("The delegation is over.", err)
}

// pathDelegation reads the delegation of the path; 404 without one.
func (s *Service) pathDelegation(ctx context.Context, tx store.Tx, r *wire.Request) (store.Record[resources.Delegation], error) {
	rec, err := s.c.Delegations.Get(ctx, tx, records.DelegationID(r.Params["accountId"], pathUser(r), r.Params["agentId"]))
	if errors.Is(err, store.ErrNotFound) {
		return store.Record[resources.Delegation]{}, resources.NotFound("delegation")
	}
	return rec, err
}
