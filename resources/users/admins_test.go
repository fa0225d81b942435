package users_test

import (
	"context"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// admins are the active users of A who hold account_admin.
func (w *usersWorld) admins() int {
	w.T.Helper()
	n := 0
	for _, id := range []string{alice, bob} {
		for _, role := range w.roles(acctA, id) {
			if u := w.get(id); role == resources.RoleAccountAdmin && u.AccountID == acctA && u.Status == resources.StatusActive {
				n++
			}
		}
	}
	return n
}

func TestLastAdminStays(t *testing.T) {
	w := newWorld(t)
	w.Write(func(ctx context.Context, tx store.Tx) error { // bob may change and remove users, and is not an admin
		a := resources.Assignment{
			AccountID: acctA, RoleID: "role-hr-v1", RoleScope: resources.RoleScopeAccount, AssigneeType: resources.AssigneeUser,
			AssigneeID: bob, Status: resources.StatusActive, CreatedAt: areatest.Start, UpdatedAt: areatest.Start,
		}
		a.ID = records.AssignmentID(a)
		if err := w.Collections.Assignments.Insert(ctx, tx, a); err != nil {
			return err
		}
		return w.Collections.Roles.Insert(ctx, tx, resources.Role{
			ID: "role-hr-v1", Name: "hr", Scope: resources.RoleScopeAccount, Status: resources.StatusActive, IsCustom: true,
			AccountID: acctA, Permissions: []string{"account:user:*"},
		})
	})
	for _, caller := range []resources.Principal{areatest.As(acctA, alice), areatest.As(acctA, bob), syncer()} {
		for _, status := range []string{"INACTIVE", "SUSPENDED", "WAITLISTED", "PENDING"} {
			w.Expect(w.call("user.update", caller, acctA, alice, areatest.Object{"status": status}), 403, "AUTH_003", "admin")
		}
		w.Expect(w.call("user.remove", caller, acctA, alice, nil), 403, "AUTH_003")
	}
	w.Expect(w.call("user.update", syncer(), "", alice, areatest.Object{"status": "INACTIVE"}), 403)
	if u := w.get(alice); u.Status != resources.StatusActive || u.AccountID != acctA || w.admins() != 1 {
		t.Errorf("%+v", u)
	}
	w.Expect(w.call("user.update", areatest.As(acctA, bob), acctA, alice, areatest.Object{"status": "ACTIVE"}), 200)
	w.Expect(w.call("user.update", areatest.As(acctA, alice), acctA, alice, areatest.Object{"name": "Alice"}), 200)
}

func TestAdminDoesNotGiveThemselvesUp(t *testing.T) {
	w := newWorld(t)
	w.assign(acctA, bob, resources.RoleAccountAdmin)
	for _, id := range []string{alice, "uuid-" + alice} {
		w.Expect(w.call("user.update", areatest.As(acctA, alice), acctA, id, areatest.Object{"status": "INACTIVE"}), 403, "their own admin role")
		w.Expect(w.call("user.remove", areatest.As(acctA, alice), acctA, id, nil), 403, "their own admin role")
	}
	w.Expect(w.call("user.update", areatest.As(acctA, bob), acctA, alice, areatest.Object{"status": "INACTIVE"}), 200)
	w.Expect(w.call("user.update", areatest.As(acctA, bob), acctA, alice, areatest.Object{"status": "ACTIVE"}), 200)
	w.Expect(w.call("user.remove", areatest.As(acctA, bob), acctA, alice, nil), 200)
	if w.admins() != 1 {
		t.Error("another admin could not be removed")
	}
}

// TestTwoLastAdminsDoNotRemoveEachOther: at once, by status and by removal, 200 rounds.
func TestTwoLastAdminsDoNotRemoveEachOther(t *testing.T) {
	w := newWorld(t)
	w.assign(acctA, bob, resources.RoleAccountAdmin)
	for round := range 200 {
		remove := func(caller, target string) func() areatest.Answer {
			return func() areatest.Answer {
				if round%2 == 0 {
					return w.Ask("user.update", ask(areatest.As(acctA, caller), acctA, target, areatest.Object{"status": "SUSPENDED"}))
				}
				return w.Ask("user.remove", ask(areatest.As(acctA, caller), acctA, target, nil))
			}
		}
		got := areatest.AtOnce(remove(alice, bob), remove(bob, alice))
		if got[0].Status+got[1].Status != 200+403 || w.admins() != 1 {
			t.Fatalf("round %d: %s, %s; %d admins left", round, got[0].Text, got[1].Text, w.admins())
		}
		for _, id := range []string{alice, bob} {
			u := w.get(id)
			if u.AccountID == "" {
				w.assign(acctA, id, resources.RoleAccountAdmin)
			}
			w.ChangeUser(id, func(u *resources.User) { u.AccountID, u.Status = acctA, resources.StatusActive })
		}
	}
}
