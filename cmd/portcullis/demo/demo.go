// Package demo makes the data of `serve --demo`: an account with a project, three users, and an agent that acts for them.
package demo

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/access"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// The demo's account, its project and its users. Alice is an admin, Bob a reader of the project, Carol a member.
const (
	Account = "acct-demo-v1"
	Project = "proj-demo-v1"
	Alice   = "user-alice-v1"
	Bob     = "user-bob-v1"
	Carol   = "user-carol-v1"
)

// Data makes the demo data.
type Data struct {
	Access      *access.Service
	Store       store.Store
	Collections records.Collections
	IDs         resources.IDs
	Log         *slog.Logger
}

// Make makes the demo data on an empty store, in two steps; a repeat changes nothing. It
// leaves a store with accounts of its own alone, and reports whether the demo account is
// there.
func (d Data) Make(ctx context.Context) (exists bool, err error) {
	var foreign bool
	err = d.Store.View(ctx, func(tx store.Tx) error {
		recs, err := d.Collections.Accounts.Find(ctx, tx, store.Query{Index: records.ByCreated, Limit: 2})
		if err != nil {
			return err
		}
		_, err = d.Collections.Accounts.Get(ctx, tx, Account)
		exists = err == nil
		foreign = len(recs) > 1 || len(recs) == 1 && !exists
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	})
	if err == nil && foreign && !exists {
		d.Log.Warn("the store has accounts of its own; no demo data was made")
	}
	if err != nil || foreign {
		return exists, err
	}
	return true, d.fill(ctx)
}

// fill makes the demo's account with its project, users and agent, unless they are there.
func (d Data) fill(ctx context.Context) error {
	_, err := d.Access.Bootstrap(ctx, access.Bootstrap{
		AccountID: Account, AccountName: "Demo", AdminEmail: "alice@demo.example", AdminID: Alice, AdminName: "Alice",
		ProjectID: Project, ProjectName: "Demo project",
	})
	if resources.IsKind(err, resources.KindConflict) {
		return nil // the operator has changed the demo account, and keeps it as it is
	}
	if err != nil {
		return err
	}
	err = d.Store.Transact(ctx, func(tx store.Tx) error {
		if _, err := tx.Bump(ctx, Account); err != nil {
			return err
		}
		bob := resources.Assignment{RoleID: "project_reader", RoleScope: resources.RoleScopeProject, ProjectID: Project}
		carol := resources.Assignment{RoleID: "team_member", RoleScope: resources.RoleScopeAccount}
		return errors.Join(
			d.insertMember(ctx, tx, Bob, "Bob", "bob@demo.example", bob),
			d.insertMember(ctx, tx, Carol, "Carol", "carol@demo.example", carol))
	})
	if err != nil {
		return err
	}
	return d.fillAgent(ctx)
}

// insertMember makes one user with one role, unless the user is there.
func (d Data) insertMember(ctx context.Context, tx store.Tx, id, name, email string, role resources.Assignment) error {
	_, err := d.Collections.Users.Get(ctx, tx, id)
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	now := resources.At(time.Now())
	err = d.Collections.Users.Insert(ctx, tx, resources.User{
		ExternalID: id, UUID: d.IDs.UUID(), AccountID: Account, Email: email, Name: name, IsVerified: true,
		Status: resources.StatusActive, AuthenticationType: "unknown", MemberSince: now, CreatedAt: now, UpdatedAt: now,
	})
	if err != nil {
		return err
	}
	role.AccountID, role.AssigneeType, role.AssigneeID = Account, resources.AssigneeUser, id
	role.Status, role.CreatedAt, role.UpdatedAt = resources.StatusActive, now, now
	role.ID = records.AssignmentID(role)
	return d.Collections.Assignments.Insert(ctx, tx, role)
}
