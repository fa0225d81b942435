package areatest

import (
	"context"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// AddAccounts adds active accounts, "Name of ID" by name.
func (w *World) AddAccounts(ids ...string) {
	w.T.Helper()
	w.Write(func(ctx context.Context, tx store.Tx) error {
		for _, id := range ids {
			a := resources.Account{ID: id, Name: "Name of " + id, Status: resources.StatusActive, CreatedAt: Start, UpdatedAt: Start}
			if err := w.Collections.Accounts.Insert(ctx, tx, a); err != nil {
				return err
			}
		}
		return nil
	})
}

// SetAccount gives an account another status.
func (w *World) SetAccount(id, status string) {
	w.T.Helper()
	w.Write(func(ctx context.Context, tx store.Tx) error {
		rec, err := w.Collections.Accounts.Get(ctx, tx, id)
		if err != nil {
			return err
		}
		rec.Value.Status = status
		if _, err := tx.Bump(ctx, id); err != nil {
			return err
		}
		return w.Collections.Accounts.Replace(ctx, tx, rec)
	})
}

// AddUser adds a member of the account, or a user of none; their UUID, address and name are made of the id.
func (w *World) AddUser(account, id, status string) {
	w.T.Helper()
	u := resources.User{
		ExternalID: id, UUID: "uuid-" + id, AccountID: account, Email: id + "@example.com", Name: "Name of " + id,
		Status: status, AuthenticationType: "unknown", CreatedAt: Start, UpdatedAt: Start,
	}
	if account != "" {
		u.MemberSince = Start
	}
	if status == resources.StatusInvited {
		u.InvitedAt = resources.At(w.Clock.Now())
	}
	w.Write(func(ctx context.Context, tx store.Tx) error { return w.Collections.Users.Insert(ctx, tx, u) })
}

// ChangeUser changes a user, in force at once in the accounts that they were in and are in.
func (w *World) ChangeUser(id string, change func(u *resources.User)) {
	w.T.Helper()
	w.Write(func(ctx context.Context, tx store.Tx) error {
		rec, err := w.Collections.Users.Get(ctx, tx, id)
		if err != nil {
			return err
		}
		before := rec.Value.AccountID
		change(&rec.Value)
		if err := store.BumpAll(ctx, tx, before, rec.Value.AccountID); err != nil {
			return err
		}
		return w.Collections.Users.Replace(ctx, tx, rec)
	})
}

// Assign adds an assignment: to a user, ACTIVE and with the role's scope where nothing else is said.
func (w *World) Assign(a resources.Assignment) {
	w.T.Helper()
	if a.AssigneeType == "" {
		a.AssigneeType = resources.AssigneeUser
	}
	if a.Status == "" {
		a.Status = resources.StatusActive
	}
	if a.RoleScope == "" {
		a.RoleScope = systemScope(w.T, a.RoleID)
	}
	a.ID, a.CreatedAt, a.UpdatedAt = records.AssignmentID(a), Start, Start
	w.Write(func(ctx context.Context, tx store.Tx) error {
		if a.RoleScope == "" {
			role, err := w.Collections.Roles.Get(ctx, tx, a.RoleID)
			if err != nil {
				return err
			}
			a.RoleScope = role.Value.Scope
		}
		return w.Collections.Assignments.Insert(ctx, tx, a)
	})
}

// systemScope returns the scope of a system role, "" for a custom one.
func systemScope(t testing.TB, role string) string {
	t.Helper()
	for _, r := range Policy(t).Roles() {
		if r.ID == role {
			return r.Scope
		}
	}
	return ""
}
