package main

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/provision"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/access"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// The demo data.
const (
	demoAccount = "acct-demo-v1"
	demoProject = "proj-demo-v1"
	demoAlice   = "user-alice-v1"
	demoBob     = "user-bob-v1"
	demoCarol   = "user-carol-v1"
)

// makeDemo makes the demo data on an empty store, in two steps; a repeat changes nothing. It
// leaves a store with accounts of its own alone, and reports whether the demo account is
// there.
func (a *app) makeDemo(ctx context.Context) (there bool, err error) {
	var others bool
	err = a.store.View(ctx, func(tx store.Tx) error {
		found, err := a.collections.Accounts.Find(ctx, tx, store.Query{Index: records.ByCreated, Limit: 2})
		if err != nil {
			return err
		}
		_, err = a.collections.Accounts.Get(ctx, tx, demoAccount)
		there = err == nil
		others = len(found) > 1 || len(found) == 1 && !there
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	})
	if err == nil && others && !there {
		a.log.Warn("the store has accounts of its own; no demo data was made")
	}
	if err != nil || others {
		return there, err
	}
	return true, a.fillDemo(ctx)
}

// fillDemo makes the demo's account with its project and users, unless they are there.
func (a *app) fillDemo(ctx context.Context) error {
	_, err := a.access.Bootstrap(ctx, access.Bootstrap{
		AccountID: demoAccount, AccountName: "Demo", AdminEmail: "alice@demo.example", AdminID: demoAlice, AdminName: "Alice",
		ProjectID: demoProject, ProjectName: "Demo project",
	})
	if resources.IsKind(err, resources.KindConflict) {
		return nil // the operator has changed the demo account, and keeps it as it is
	}
	if err != nil {
		return err
	}
	return a.store.Transact(ctx, func(tx store.Tx) error {
		if _, err := tx.Bump(ctx, demoAccount); err != nil {
			return err
		}
		bob := resources.Assignment{RoleID: "project_reader", RoleScope: resources.RoleScopeProject, ProjectID: demoProject}
		carol := resources.Assignment{RoleID: "team_member", RoleScope: resources.RoleScopeAccount}
		return errors.Join(
			a.demoMember(ctx, tx, demoBob, "Bob", "bob@demo.example", bob),
			a.demoMember(ctx, tx, demoCarol, "Carol", "carol@demo.example", carol))
	})
}

// demoMember makes one user with one role, unless the user is there.
func (a *app) demoMember(ctx context.Context, tx store.Tx, id, name, email string, role resources.Assignment) error {
	_, err := a.collections.Users.Get(ctx, tx, id)
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	now := resources.At(time.Now())
	err = a.collections.Users.Insert(ctx, tx, resources.User{
		ExternalID: id, UUID: a.ids.UUID(), AccountID: demoAccount, Email: email, Name: name, IsVerified: true,
		Status: resources.StatusActive, AuthenticationType: "unknown", MemberSince: now, CreatedAt: now, UpdatedAt: now,
	})
	if err != nil {
		return err
	}
	role.AccountID, role.AssigneeType, role.AssigneeID = demoAccount, resources.AssigneeUser, id
	role.Status, role.CreatedAt, role.UpdatedAt = resources.StatusActive, now, now
	role.ID = records.AssignmentID(role)
	return a.collections.Assignments.Insert(ctx, tx, role)
}

// provideDemo has the simulated provisioner make and take away the clusters of the demo, until the
// context ends.
func (a *app) provideDemo(ctx context.Context, listener net.Addr) {
	s := &provision.Simulator{
		URL: "http://" + reachable(listener), Token: func() (string, error) { return sign(a.settings, provisionerToken()) },
		Step: defaultStep, Log: a.log.With("part", "simulated provisioner"),
	}
	if err := s.Run(ctx); err != nil {
		a.log.Warn("the demo's clusters stay as they are: the simulated provisioner has ended", "error", err.Error())
	}
}
