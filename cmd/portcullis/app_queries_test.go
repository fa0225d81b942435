package main

import (
	"context"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/demo"
	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/queries"
	"github.com/portcullis-authz/portcullis/store/records"
)

// between is a store in which something happens after a view.
type between struct {
	store.Store
	happens func()
}

func (b between) View(ctx context.Context, fn func(store.Tx) error) error {
	err := b.Store.View(ctx, fn)
	b.happens()
	return err
}

// TestAnExplanationIsOfOneRevision guarantees that a fix's users are counted at the revision of the facts, or not at
// all. The answer says so, and reports the number of judged questions.
func TestAnExplanationIsOfOneRevision(t *testing.T) {
	a, _ := demoApp(t, func(*config.Config) {})
	now := resources.At(time.Now())
	if err := a.store.Transact(t.Context(), func(tx store.Tx) error {
		role := resources.Role{
			ID: "role-x-v1", Name: "x", IsCustom: true, AccountID: demo.Account, Scope: resources.RoleScopeProject, Status: resources.StatusActive,
			Permissions: []string{"project:other:read"}, CreatedAt: now, UpdatedAt: now,
		}
		if err := a.collections.Roles.Insert(t.Context(), tx, role); err != nil {
			return err
		}
		held := resources.Assignment{
			AccountID: demo.Account, RoleID: role.ID, RoleScope: role.Scope, ProjectID: demo.Project, AssigneeType: resources.AssigneeUser, AssigneeID: demo.Alice,
			Status: resources.StatusActive, CreatedAt: now, UpdatedAt: now,
		}
		held.ID = records.AssignmentID(held)
		return a.collections.Assignments.Insert(t.Context(), tx, held)
	}); err != nil {
		t.Fatal(err)
	}
	bump := func() {
		if err := a.store.Transact(t.Context(), func(tx store.Tx) error { _, err := tx.Bump(t.Context(), demo.Account); return err }); err != nil {
			t.Error(err)
		}
	}
	action, err := resources.ParseAction("project:instance:create")
	if err != nil {
		t.Fatal(err)
	}
	row, err := route.NewRow(resources.Route{Path: "/explain", Action: "account:authorization:explain"})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		happens func()
		counted bool
	}{"nothing happens": {func() {}, true}, "the account moves": {bump, false}} {
		t.Run(name, func(t *testing.T) {
			e := explainer{queries.Reader{Store: between{a.store, c.happens}, Collections: a.collections, Gate: a.gates.searches}, a.policy}
			x, judged, err := e.Explain(t.Context(), resources.Question{
				Principal: signedIn(demo.Alice), Action: action, AccountID: demo.Account, SubjectID: demo.Carol, Route: &row.Route, Now: now,
				Target: resources.Target{AccountID: demo.Account, ProjectID: demo.Project, Resource: "instances/i", Rest: "instances/i"},
			})
			if err != nil || x.Allowed || len(x.Fixes) < 3 || x.Complete != c.counted || judged < 50 {
				t.Fatalf("%v, judged %d: %+v", err, judged, x)
			}
			most := 0
			for _, fix := range x.Fixes {
				if (fix.Affects != nil) != c.counted {
					t.Errorf("%+v", fix)
				}
				if fix.Affects != nil {
					most = max(most, *fix.Affects)
				}
			}
			if c.counted && most != 1 {
				t.Errorf("a fix affects %d other users, want 1: %+v", most, x.Fixes)
			}
		})
	}
}
