package store

import (
	"context"
	"errors"

	"github.com/portcullis-authz/portcullis/resources"
)

// LoadFacts reads, in one snapshot, what a decision about a user, an account and,
// where project is not "", a project rests on. What is not there is a fact too, not
// an error. It is the one reader of these facts: caches fill themselves with it and
// changes judge their actor by it.
func (c Collections) LoadFacts(ctx context.Context, tx Tx, account, user, project string) (resources.Facts, error) {
	revision, err := tx.Revision(ctx, account)
	if err != nil {
		return resources.Facts{}, err
	}
	subject, err := c.loadSubject(ctx, tx, account, user)
	if err != nil {
		return resources.Facts{}, err
	}
	state, err := c.projectState(ctx, tx, account, project)
	if err != nil {
		return resources.Facts{}, err
	}
	return resources.Facts{Revision: revision, Subject: subject, ProjectState: state}, nil
}

func (c Collections) loadSubject(ctx context.Context, tx Tx, account, user string) (*resources.Subject, error) {
	s := &resources.Subject{AccountID: account, UserID: user}
	acct, err := optional(c.Accounts.Get(ctx, tx, account))
	if err != nil {
		return nil, err
	}
	if acct != nil {
		s.AccountExists, s.AccountStatus = true, acct.Value.Status
	}
	u, err := optional(c.Users.Get(ctx, tx, user))
	if err != nil || u == nil {
		return s, err
	}
	s.UserExists, s.UserUUID, s.UserStatus = true, u.Value.UUID, u.Value.Status
	s.PartnerID, s.HomeID = u.Value.AuthenticationPartnerID, u.Value.AccountID
	s.Member = u.Value.AccountID == account && account != ""
	if !s.Member {
		return s, nil
	}
	if s.Assignments, err = c.HeldRoles(ctx, tx, account, user); err != nil {
		return nil, err
	}
	s.Keys, err = c.usableKeys(ctx, tx, account, user)
	return s, err
}

// usableKeys are the keys that were not revoked; their end is for the decision to judge.
func (c Collections) usableKeys(ctx context.Context, tx Tx, account, user string) ([]resources.KeyFact, error) {
	found, err := c.APIKeys.Find(ctx, tx, Query{Index: ByUser, Equal: []Value{String(account), String(user)}})
	if err != nil {
		return nil, err
	}
	var out []resources.KeyFact
	for _, rec := range found {
		if k := rec.Value; k.RevokedAt == 0 {
			out = append(out, resources.KeyFact{ID: k.ID, Hash: k.Hash, Scopes: k.Scopes, ExpiresAt: k.ExpiresAt})
		}
	}
	return out, nil
}

// HeldRoles lists the user's assignments in the account, direct ones first, then
// those through groups, each with what is known of its role.
func (c Collections) HeldRoles(ctx context.Context, tx Tx, account, user string) ([]resources.HeldRole, error) {
	memberships, err := c.Members.Find(ctx, tx, Query{Index: ByUser, Equal: []Value{String(account), String(user)}})
	if err != nil {
		return nil, err
	}
	held, err := c.heldBy(ctx, tx, account, resources.AssigneeUser, user)
	if err != nil {
		return nil, err
	}
	for _, m := range memberships {
		group, err := c.heldBy(ctx, tx, account, resources.AssigneeGroup, m.Value.GroupID)
		if err != nil {
			return nil, err
		}
		held = append(held, group...)
	}
	return held, nil
}

func (c Collections) heldBy(ctx context.Context, tx Tx, account, kind, assignee string) ([]resources.HeldRole, error) {
	found, err := c.Assignments.Find(ctx, tx, Query{
		Index: ByAssignee, Equal: []Value{String(account), String(kind), String(assignee)},
	})
	if err != nil {
		return nil, err
	}
	out := make([]resources.HeldRole, 0, len(found))
	for _, rec := range found {
		a := rec.Value
		held := resources.HeldRole{
			RoleID: a.RoleID, RoleScope: a.RoleScope, RoleStatus: resources.StatusActive, ProjectID: a.ProjectID, ResourceID: a.ResourceID,
			Status: a.Status, ExpiresAt: a.ExpiresAt, CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt,
		}
		if kind == resources.AssigneeGroup {
			held.GroupID = assignee
		}
		role, err := optional(c.Roles.Get(ctx, tx, a.RoleID))
		if err != nil {
			return nil, err
		}
		if role != nil {
			held.Custom, held.RoleScope, held.RoleStatus = true, role.Value.Scope, role.Value.Status
			if role.Value.AccountID == account {
				held.Permissions = role.Value.Permissions
			}
		}
		out = append(out, held)
	}
	return out, nil
}

func (c Collections) projectState(ctx context.Context, tx Tx, account, project string) (string, error) {
	if project == "" {
		return "", nil
	}
	p, err := optional(c.Projects.Get(ctx, tx, project))
	if err != nil {
		return "", err
	}
	if p == nil || p.Value.AccountID != account || p.Value.State == resources.ProjectDeleted {
		return resources.ProjectAbsent, nil
	}
	return p.Value.State, nil
}

// optional turns "not found" into nothing.
func optional[T any](rec Record[T], err error) (*Record[T], error) {
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &rec, nil
}
