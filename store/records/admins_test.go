package records_test

import (
	"context"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/sqlite"
	"github.com/portcullis-authz/portcullis/test/must"
)

// The ids of the tests: alice and bob are users, admins and others are groups.
const (
	account, admin     = "acct-a-v1", resources.RoleAccountAdmin
	alice, bob         = "user-alice-v1", "user-bob-v1"
	admins, otherGroup = "group-admins-v1", "group-others-v1"
	now                = resources.Time(1_790_000_000_000)
)

// counting is a transaction that counts the reads of all assignments of account_admin.
type counting struct {
	store.Tx
	reads *int
}

func (c counting) Find(ctx context.Context, schema *store.Schema, q store.Query) ([]store.Row, error) {
	if q.Index == records.ByRole && q.Equal[1] == store.String(admin) {
		*c.reads++
	}
	return c.Tx.Find(ctx, schema, q)
}

// adminsWorld is one account on a store of its own.
type adminsWorld struct {
	t  *testing.T
	db store.Store
	c  records.Collections
}

func newWorld(t *testing.T) *adminsWorld {
	t.Helper()
	w := &adminsWorld{t: t, c: records.NewCollections()}
	db := must.Get(sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir(), Schemas: w.c.Schemas()}))(t)
	t.Cleanup(func() { _ = db.Close() })
	w.db = db
	w.write(func(ctx context.Context, tx store.Tx) error {
		for _, id := range []string{alice, bob} {
			u := resources.User{ExternalID: id, UUID: "uuid-" + id, Email: id + "@example.com", AccountID: account, Status: resources.StatusActive}
			if err := w.c.Users.Insert(ctx, tx, u); err != nil {
				return err
			}
		}
		return nil
	})
	return w
}

// write changes the account in a transaction, as the areas do.
func (w *adminsWorld) write(fn func(ctx context.Context, tx store.Tx) error) {
	w.t.Helper()
	must.Do(w.t, w.try(fn))
}

func (w *adminsWorld) try(fn func(ctx context.Context, tx store.Tx) error) error {
	ctx := w.t.Context()
	return w.db.Transact(ctx, func(tx store.Tx) error {
		if _, err := tx.Bump(ctx, account); err != nil {
			return err
		}
		return fn(ctx, tx)
	})
}

// assignment is one of the role at account level, without an end.
func assignment(kind, assignee, role string) resources.Assignment {
	a := resources.Assignment{
		AccountID: account, RoleID: role, RoleScope: resources.RoleScopeAccount, AssigneeType: kind, AssigneeID: assignee,
		Status: resources.StatusActive, CreatedAt: now, UpdatedAt: now,
	}
	a.ID = records.AssignmentID(a)
	return a
}

func (w *adminsWorld) assign(kind, assignee, role string) {
	w.t.Helper()
	w.write(func(ctx context.Context, tx store.Tx) error {
		return w.c.Assignments.Insert(ctx, tx, assignment(kind, assignee, role))
	})
}

func (w *adminsWorld) join(group, user string) {
	w.t.Helper()
	w.write(func(ctx context.Context, tx store.Tx) error {
		return w.c.Members.Insert(ctx, tx, resources.GroupMember{
			ID: records.MemberID(group, user), AccountID: account, GroupID: group, UserID: user, AddedAt: now,
		})
	})
}

// change makes a change by an operator's service and returns how often all admins were read.
func (w *adminsWorld) change(change records.RoleChange, fn func(ctx context.Context, tx store.Tx) error) (reads int, err error) {
	w.t.Helper()
	change.AccountID, change.Now = account, now
	if change.Caller.ID == "" {
		change.Caller = resources.Principal{Kind: resources.PrincipalService, ID: "a-service"}
	}
	err = w.try(func(ctx context.Context, tx store.Tx) error {
		tx = counting{tx, &reads}
		return w.c.KeepAdmins(ctx, tx, change, func() error { return fn(ctx, tx) })
	})
	return reads, err
}

// The changes by which an admin can go.

func (w *adminsWorld) revoke(kind, assignee, role string) func(context.Context, store.Tx) error {
	return func(ctx context.Context, tx store.Tx) error {
		rec, err := w.c.Assignments.Get(ctx, tx, records.AssignmentID(assignment(kind, assignee, role)))
		if err != nil {
			return err
		}
		return w.c.Assignments.Delete(ctx, tx, rec)
	}
}

func (w *adminsWorld) leaveGroup(group, user string) func(context.Context, store.Tx) error {
	return func(ctx context.Context, tx store.Tx) error {
		rec, err := w.c.Members.Get(ctx, tx, records.MemberID(group, user))
		if err != nil {
			return err
		}
		return w.c.Members.Delete(ctx, tx, rec)
	}
}

func (w *adminsWorld) setUser(id string, set func(*resources.User)) func(context.Context, store.Tx) error {
	return func(ctx context.Context, tx store.Tx) error {
		rec, err := w.c.Users.Get(ctx, tx, id)
		if err != nil {
			return err
		}
		set(&rec.Value)
		return w.c.Users.Replace(ctx, tx, rec)
	}
}

func suspend(u *resources.User) { u.Status = resources.StatusSuspended }

func leave(u *resources.User) { u.AccountID = "" }

// TestLastAdminStaysByEveryWay, whether the role is held directly or through a group.
func TestLastAdminStaysByEveryWay(t *testing.T) {
	const user, group = resources.AssigneeUser, resources.AssigneeGroup
	direct := func(w *adminsWorld) { w.assign(user, alice, admin) }
	byGroup := func(w *adminsWorld) { w.assign(group, admins, admin); w.join(admins, alice) }
	nothing := func(*adminsWorld) func(context.Context, store.Tx) error {
		return func(context.Context, store.Tx) error { return nil }
	}
	for name, c := range map[string]struct {
		holds  func(*adminsWorld)
		change records.RoleChange
		fn     func(*adminsWorld) func(context.Context, store.Tx) error
		kept   bool
	}{
		"revoked":                      {direct, records.RoleChange{RoleIDs: []string{admin}}, func(w *adminsWorld) func(context.Context, store.Tx) error { return w.revoke(user, alice, admin) }, false},
		"replaced":                     {direct, records.RoleChange{RoleIDs: []string{"team_member", admin}}, func(w *adminsWorld) func(context.Context, store.Tx) error { return w.revoke(user, alice, admin) }, false},
		"the group's role is revoked":  {byGroup, records.RoleChange{RoleIDs: []string{admin}}, func(w *adminsWorld) func(context.Context, store.Tx) error { return w.revoke(group, admins, admin) }, false},
		"the group ends":               {byGroup, records.RoleChange{GroupID: admins}, func(w *adminsWorld) func(context.Context, store.Tx) error { return w.revoke(group, admins, admin) }, false},
		"removed from the group":       {byGroup, records.RoleChange{GroupID: admins}, func(w *adminsWorld) func(context.Context, store.Tx) error { return w.leaveGroup(admins, alice) }, false},
		"suspended":                    {direct, records.RoleChange{UserID: alice}, func(w *adminsWorld) func(context.Context, store.Tx) error { return w.setUser(alice, suspend) }, false},
		"suspended, admin by a group":  {byGroup, records.RoleChange{UserID: alice}, func(w *adminsWorld) func(context.Context, store.Tx) error { return w.setUser(alice, suspend) }, false},
		"leaves the account":           {direct, records.RoleChange{UserID: alice}, func(w *adminsWorld) func(context.Context, store.Tx) error { return w.setUser(alice, leave) }, false},
		"leaves, admin by a group":     {byGroup, records.RoleChange{UserID: alice}, func(w *adminsWorld) func(context.Context, store.Tx) error { return w.setUser(alice, leave) }, false},
		"by a change that names none":  {direct, records.RoleChange{}, func(w *adminsWorld) func(context.Context, store.Tx) error { return w.setUser(alice, suspend) }, false},
		"a change that takes no admin": {direct, records.RoleChange{RoleIDs: []string{admin}}, nothing, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c.holds(w)
			if _, err := w.change(c.change, c.fn(w)); c.kept && err != nil || !c.kept && !resources.IsKind(err, resources.KindForbidden) {
				t.Errorf("the last admin: %v", err)
			}
			w.assign(user, bob, admin)
			if _, err := w.change(c.change, c.fn(w)); err != nil {
				t.Errorf("one of two admins: %v", err)
			}
		})
	}
}

// TestChangeThatConcernsNoAdminReadsNoAdmins, and is made; the account's admins are read twice
// where an admin is concerned.
func TestChangeThatConcernsNoAdminReadsNoAdmins(t *testing.T) {
	const user, group = resources.AssigneeUser, resources.AssigneeGroup
	w := newWorld(t)
	w.assign(user, alice, admin)
	w.assign(user, alice, "team_member")
	w.assign(user, bob, "team_member")
	w.assign(group, otherGroup, "team_member")
	w.assign(group, admins, admin)
	w.join(otherGroup, alice) // an admin, but not by this group
	w.join(otherGroup, bob)
	w.join(admins, alice)
	for _, c := range []struct {
		name   string
		change records.RoleChange
		fn     func(context.Context, store.Tx) error
		want   int
	}{
		{"another role of an admin", records.RoleChange{RoleIDs: []string{"team_member"}}, w.revoke(user, alice, "team_member"), 0},
		{"another role replaced", records.RoleChange{RoleIDs: []string{"account_reader", "team_member"}}, w.revoke(user, bob, "team_member"), 0},
		{"a group without the role", records.RoleChange{GroupID: otherGroup}, w.leaveGroup(otherGroup, alice), 0},
		{"a user without the role", records.RoleChange{UserID: bob}, w.setUser(bob, suspend), 0},
		{"the role itself", records.RoleChange{RoleIDs: []string{admin}}, w.revoke(user, alice, admin), 2},
		{"a group with the role", records.RoleChange{GroupID: admins}, func(context.Context, store.Tx) error { return nil }, 2},
		{"a user with the role", records.RoleChange{UserID: alice}, func(context.Context, store.Tx) error { return nil }, 2},
	} {
		if reads, err := w.change(c.change, c.fn); err != nil || reads != c.want {
			t.Errorf("%s: all admins were read %d times, want %d; %v", c.name, reads, c.want, err)
		}
	}
}

// TestAdminKeepsTheirOwnRole, though there is another admin.
func TestAdminKeepsTheirOwnRole(t *testing.T) {
	w := newWorld(t)
	w.assign(resources.AssigneeUser, alice, admin)
	w.assign(resources.AssigneeUser, bob, admin)
	change := records.RoleChange{Caller: resources.Principal{Kind: resources.PrincipalUser, ID: alice}, UserID: alice}
	if _, err := w.change(change, w.setUser(alice, leave)); !resources.IsKind(err, resources.KindForbidden) {
		t.Error(err)
	}
}
