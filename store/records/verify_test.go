package records_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/test/must"
)

// verified checks the world's store.
func (w *adminsWorld) verified() records.Verified {
	w.t.Helper()
	return must.Get(w.c.Verify(w.t.Context(), w.db))(w.t)
}

// populate gives the account one record of each kind that names others, all of them good.
func (w *adminsWorld) populate() {
	w.t.Helper()
	w.write(func(ctx context.Context, tx store.Tx) error {
		steps := []func() error{
			func() error {
				return w.c.Accounts.Insert(ctx, tx, resources.Account{ID: account, Status: resources.StatusActive})
			},
			func() error {
				return w.c.Projects.Insert(ctx, tx, resources.Project{ID: "proj-a-v1", AccountID: account, Name: "a", State: resources.ProjectActive})
			},
			func() error {
				return w.c.Groups.Insert(ctx, tx, resources.Group{ID: admins, AccountID: account, Name: "admins"})
			},
			func() error {
				return w.c.Members.Insert(ctx, tx, resources.GroupMember{AccountID: account, GroupID: admins, UserID: alice})
			},
			func() error {
				return w.c.Roles.Insert(ctx, tx, resources.Role{ID: "role-own-v1", AccountID: account, Name: "own", Status: resources.StatusActive})
			},
			func() error {
				return w.c.APIKeys.Insert(ctx, tx, resources.APIKey{ID: "apikey-a-v1", AccountID: account, UserID: bob})
			},
		}
		for _, step := range steps {
			if err := step(); err != nil {
				return err
			}
		}
		for _, a := range []resources.Assignment{
			{RoleID: admin, RoleScope: resources.RoleScopeAccount, AssigneeType: resources.AssigneeGroup, AssigneeID: admins},
			{RoleID: "role-own-v1", AssigneeType: resources.AssigneeUser, AssigneeID: bob, ProjectID: "proj-a-v1"},
		} {
			a.AccountID, a.Status = account, resources.StatusActive
			if err := w.c.Assignments.Insert(ctx, tx, a); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestVerifyFindsEachFault: a good store has none, and each fault is one sentence with the record's key.
func TestVerifyFindsEachFault(t *testing.T) {
	type change func(w *adminsWorld, ctx context.Context, tx store.Tx) error
	remove := func(schema func(records.Collections) *store.Schema, key string) change {
		return func(w *adminsWorld, ctx context.Context, tx store.Tx) error {
			row, err := tx.Get(ctx, schema(w.c), key)
			if err != nil {
				return err
			}
			return tx.Delete(ctx, schema(w.c), key, row.Revision)
		}
	}
	load := func(schema func(records.Collections) *store.Schema, key string, edit func(*store.Row)) change {
		return func(w *adminsWorld, ctx context.Context, tx store.Tx) error {
			row, err := tx.Get(ctx, schema(w.c), key)
			if err != nil {
				return err
			}
			if row.Columns, err = schema(w.c).Extract(row.Body); err != nil {
				return err
			}
			edit(&row)
			return tx.Load(ctx, schema(w.c), row)
		}
	}
	accounts := func(c records.Collections) *store.Schema { return c.Accounts.Schema() }
	users := func(c records.Collections) *store.Schema { return c.Users.Schema() }
	groups := func(c records.Collections) *store.Schema { return c.Groups.Schema() }
	members := func(c records.Collections) *store.Schema { return c.Members.Schema() }
	for name, c := range map[string]struct {
		damage change
		says   []string
	}{
		"none":             {func(*adminsWorld, context.Context, store.Tx) error { return nil }, nil},
		"a user":           {remove(users, bob), []string{"the user " + bob + " is missing", `api_keys "apikey-a-v1"`}},
		"the only admin":   {remove(users, alice), []string{"no account admin", "the user " + alice + " is missing"}},
		"the admins":       {remove(members, records.MemberID(admins, alice)), []string{`accounts "` + account + `"`, "no account admin"}},
		"a group":          {remove(groups, admins), []string{"the group " + admins + " is missing"}},
		"an account":       {remove(accounts, account), []string{"the account " + account + " is missing"}},
		"a project":        {remove(func(c records.Collections) *store.Schema { return c.Projects.Schema() }, "proj-a-v1"), []string{"the project proj-a-v1 is missing"}},
		"a role":           {remove(func(c records.Collections) *store.Schema { return c.Roles.Schema() }, "role-own-v1"), []string{"the role role-own-v1 is missing"}},
		"a revision":       {load(groups, admins, func(r *store.Row) { r.Revision = 0 }), []string{`groups "` + admins + `"`, "its revision is 0"}},
		"a body":           {load(groups, admins, func(r *store.Row) { r.Body = []byte("{") }), []string{"it can't be read"}},
		"another's key":    {load(groups, admins, func(r *store.Row) { r.Body = []byte(strings.Replace(string(r.Body), admins, otherGroup, 1)) }), []string{"another key than its own"}},
		"account revision": {func(_ *adminsWorld, ctx context.Context, tx store.Tx) error { return tx.LoadRevision(ctx, account, 0) }, []string{"the account has no revision"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.populate()
			must.Do(t, w.db.Transact(t.Context(), func(tx store.Tx) error { return c.damage(w, t.Context(), tx) }))
			verified := w.verified()
			if all := strings.Join(verified.Damage, "\n"); len(c.says) == 0 && all != "" {
				t.Errorf("damage in a good store: %s", all)
			} else {
				for _, text := range c.says {
					if !strings.Contains(all, text) {
						t.Errorf("%q does not say %q", all, text)
					}
				}
			}
		})
	}
}

// TestVerifyReadsEveryCollection, and every page of them.
func TestVerifyReadsEveryCollection(t *testing.T) {
	w := newWorld(t)
	w.populate()
	w.write(func(ctx context.Context, tx store.Tx) error {
		for i := range 450 {
			k := resources.APIKey{ID: fmt.Sprintf("apikey-%d-v1", i), AccountID: account, UserID: bob}
			if err := w.c.APIKeys.Insert(ctx, tx, k); err != nil {
				return err
			}
		}
		return nil
	})
	verified := w.verified()
	if verified.Records["api_keys"] != 451 || len(verified.Damage) != 0 {
		t.Errorf("%+v", verified)
	}
	for _, schema := range w.c.Schemas() {
		if _, ok := verified.Records[schema.Name]; !ok && schema != w.c.Copies.Schema() {
			t.Errorf("%s is not checked", schema.Name)
		}
	}
}
