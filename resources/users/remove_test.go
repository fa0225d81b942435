package users_test

import (
	"context"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// key adds an API key that was used once.
func (w *world) key(account, user, id string) {
	w.t.Helper()
	w.write(func(ctx context.Context, tx store.Tx) error {
		if err := w.c.KeyUses.Insert(ctx, tx, records.KeyUse{KeyID: id, LastUsedAt: start}); err != nil {
			return err
		}
		return w.c.APIKeys.Insert(ctx, tx, resources.APIKey{ID: id, AccountID: account, UserID: user, Hash: []byte(id), CreatedAt: start})
	})
}

// join puts the user into a group that holds account_reader.
func (w *world) join(account, group, user string) {
	w.t.Helper()
	w.write(func(ctx context.Context, tx store.Tx) error {
		a := resources.Assignment{
			AccountID: account, RoleID: "account_reader", RoleScope: resources.RoleScopeAccount, AssigneeType: resources.AssigneeGroup,
			AssigneeID: group, Status: resources.StatusActive, CreatedAt: start, UpdatedAt: start,
		}
		a.ID = records.AssignmentID(a)
		if err := w.c.Assignments.Insert(ctx, tx, a); err != nil {
			return err
		}
		return w.c.Members.Insert(ctx, tx, resources.GroupMember{
			ID: records.MemberID(group, user), AccountID: account, GroupID: group, UserID: user, AddedAt: start,
		})
	})
}

func (w *world) unassign(account, user, role string) {
	w.t.Helper()
	w.write(func(ctx context.Context, tx store.Tx) error {
		rec, err := w.c.Assignments.Get(ctx, tx, records.AssignmentID(resources.Assignment{
			AccountID: account, RoleID: role, AssigneeType: resources.AssigneeUser, AssigneeID: user,
		}))
		if err != nil {
			return err
		}
		return w.c.Assignments.Delete(ctx, tx, rec)
	})
}

// has says whether a record is there.
func has[T any](w *world, c store.Collection[T], key string) (there bool) {
	w.t.Helper()
	w.write(func(ctx context.Context, tx store.Tx) error {
		_, err := c.Get(ctx, tx, key)
		there = err == nil
		return nil
	})
	return there
}

func TestRemovalEndsEverythingInTheAccount(t *testing.T) {
	for name, c := range map[string]struct {
		who resources.Principal
		id  string
	}{
		"by an admin":        {as(acctA, alice), bob},
		"by an admin, UUID":  {as(acctA, alice), "uuid-" + bob},
		"by themselves":      {as(acctA, bob), bob},
		"themselves by UUID": {as(acctA, bob), "uuid-" + bob},
		"by their own key":   {by(acctA, bob, "apikey-b1-v1", "write"), bob},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.key(acctA, bob, "apikey-b1-v1")
			w.key(acctA, bob, "apikey-b2-v1")
			w.key(acctA, alice, "apikey-a-v1")
			w.join(acctA, "group-a-v1", bob)
			w.pass(minute)
			rev, none := w.revision(acctA), w.revision("")
			w.expect(w.call("user.remove", c.who, acctA, c.id, nil), 200, `{"message":"`)
			u := w.get(bob)
			if u.AccountID != "" || u.MemberSince != 0 || u.Status != resources.StatusActive || u.UpdatedAt != start+minute || len(w.roles(acctA, bob)) != 0 {
				t.Errorf("%+v holds %v", u, w.roles(acctA, bob))
			}
			for _, id := range []string{"apikey-b1-v1", "apikey-b2-v1"} {
				if has(w, w.c.APIKeys, id) || has(w, w.c.KeyUses, id) {
					t.Errorf("%s is there", id)
				}
			}
			if !has(w, w.c.APIKeys, "apikey-a-v1") || len(w.roles(acctA, alice)) != 1 {
				t.Error("somebody else lost something")
			}
			if w.revision(acctA) != rev+1 || w.revision("") != none+1 {
				t.Error("not both revisions moved")
			}
			// Whoever comes back inherits nothing.
			w.expect(w.call("user.invite", as(acctA, alice), acctA, "", object{"email": u.Email}), 200)
			if roles := w.roles(acctA, bob); len(roles) != 1 || roles[0] != "team_member" {
				t.Errorf("roles %v", roles)
			}
		})
	}
}

func TestRepeatedRemovalIsNotFoundAndCommitted(t *testing.T) {
	w := newWorld(t)
	w.expect(w.call("user.remove", as(acctA, alice), acctA, bob, nil), 200)
	want := w.call("user.remove", as(acctA, alice), acctA, absent, nil)
	w.expect(want, 404, "USER_001")
	for _, id := range []string{bob, bea, "uuid-" + bea, nora} {
		rev := w.revision(acctA)
		if got := w.call("user.remove", as(acctA, alice), acctA, id, nil); got.text != want.text {
			t.Errorf("%s: %s", id, got.text)
		}
		if w.revision(acctA) != rev+1 {
			t.Errorf("%s: the answer is no outcome of a commit", id)
		}
	}
	if w.get(bea).AccountID != acctB {
		t.Error("somebody else's member was removed")
	}
	w.expect(w.call("user.remove", as(acctA, bob), acctA, bob, nil), 403, "AUTH_003") // no member any more
}

func TestRemovalNeedsTheRight(t *testing.T) {
	w := newWorld(t)
	w.key(acctA, bob, "apikey-b-v1")
	for _, id := range []string{alice, bea, absent} {
		w.expect(w.call("user.remove", as(acctA, bob), acctA, id, nil), 403, "no active role of the user grants account:user:delete in acct-a-v1")
		w.expect(w.call("user.remove", service(resources.ServiceScopeCheck), acctA, id, nil), 403, "no scope of the service")
	}
	w.expect(w.call("user.remove", as(acctB, bea), acctA, bob, nil), 403)
	w.expect(w.call("user.remove", by(acctA, bob, "apikey-b-v1", "read"), acctA, bob, nil), 403)
	w.expect(w.call("user.remove", by(acctA, bob, "apikey-gone-v1", "write"), acctA, bob, nil), 403)
	w.expect(w.call("user.remove", as(acctA, alice), acctA, bob, object{"force": true}), 400, "force: unknown field")
	r := ask(as(acctA, alice), acctA, bob, nil)
	r.Query = "x=1"
	w.expect(w.send("user.remove", r), 400, "x: unknown query parameter")
	w.suspend(acctA)
	w.expect(w.call("user.remove", as(acctA, alice), acctA, bob, nil), 403)
	w.expect(w.call("user.remove", as(acctA, bob), acctA, bob, nil), 403)
	if w.get(bob).AccountID != acctA {
		t.Error("the member was removed")
	}
}
