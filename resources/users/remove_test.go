package users_test

import (
	"context"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// key adds an API key that was used once.
func (w *usersWorld) key(account, user, id string) {
	w.T.Helper()
	w.Write(func(ctx context.Context, tx store.Tx) error {
		if err := w.Collections.KeyUses.Insert(ctx, tx, records.KeyUse{KeyID: id, LastUsedAt: areatest.Start}); err != nil {
			return err
		}
		return w.Collections.APIKeys.Insert(ctx, tx, resources.APIKey{ID: id, AccountID: account, UserID: user, Hash: []byte(id), CreatedAt: areatest.Start})
	})
}

// join puts the user into a group that holds account_reader.
func (w *usersWorld) join(account, group, user string) {
	w.T.Helper()
	w.Write(func(ctx context.Context, tx store.Tx) error {
		a := resources.Assignment{
			AccountID: account, RoleID: "account_reader", RoleScope: resources.RoleScopeAccount, AssigneeType: resources.AssigneeGroup,
			AssigneeID: group, Status: resources.StatusActive, CreatedAt: areatest.Start, UpdatedAt: areatest.Start,
		}
		a.ID = records.AssignmentID(a)
		if err := w.Collections.Assignments.Insert(ctx, tx, a); err != nil {
			return err
		}
		return w.Collections.Members.Insert(ctx, tx, resources.GroupMember{
			ID: records.MemberID(group, user), AccountID: account, GroupID: group, UserID: user, AddedAt: areatest.Start,
		})
	})
}

func (w *usersWorld) unassign(account, user, role string) {
	w.T.Helper()
	w.Write(func(ctx context.Context, tx store.Tx) error {
		rec, err := w.Collections.Assignments.Get(ctx, tx, records.AssignmentID(resources.Assignment{
			AccountID: account, RoleID: role, AssigneeType: resources.AssigneeUser, AssigneeID: user,
		}))
		if err != nil {
			return err
		}
		return w.Collections.Assignments.Delete(ctx, tx, rec)
	})
}

// has says whether a record is there.
func has[T any](w *usersWorld, c store.Collection[T], key string) (exists bool) {
	w.T.Helper()
	w.Write(func(ctx context.Context, tx store.Tx) error {
		_, err := c.Get(ctx, tx, key)
		exists = err == nil
		return nil
	})
	return exists
}

func TestRemovalEndsEverythingInTheAccount(t *testing.T) {
	for name, c := range map[string]struct {
		caller resources.Principal
		id     string
	}{
		"by an admin":        {areatest.As(acctA, alice), bob},
		"by an admin, UUID":  {areatest.As(acctA, alice), "uuid-" + bob},
		"by themselves":      {areatest.As(acctA, bob), bob},
		"themselves by UUID": {areatest.As(acctA, bob), "uuid-" + bob},
		"by their own key":   {areatest.By(acctA, bob, "apikey-b1-v1", "write"), bob},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.key(acctA, bob, "apikey-b1-v1")
			w.key(acctA, bob, "apikey-b2-v1")
			w.key(acctA, alice, "apikey-a-v1")
			w.join(acctA, "group-a-v1", bob)
			w.Clock.Add(int64(minute))
			rev, none := w.Revision(acctA), w.Revision("")
			w.Expect(w.call("user.remove", c.caller, acctA, c.id, nil), 200, `{"message":"`)
			u := w.get(bob)
			if u.AccountID != "" || u.MemberSince != 0 || u.Status != resources.StatusActive || u.UpdatedAt != areatest.Start+minute || len(w.roles(acctA, bob)) != 0 {
				t.Errorf("%+v holds %v", u, w.roles(acctA, bob))
			}
			for _, id := range []string{"apikey-b1-v1", "apikey-b2-v1"} {
				if has(w, w.Collections.APIKeys, id) || has(w, w.Collections.KeyUses, id) {
					t.Errorf("%s is there", id)
				}
			}
			if !has(w, w.Collections.APIKeys, "apikey-a-v1") || len(w.roles(acctA, alice)) != 1 {
				t.Error("somebody else lost something")
			}
			if w.Revision(acctA) != rev+1 || w.Revision("") != none+1 {
				t.Error("not both revisions moved")
			}
			// A user who comes back inherits nothing.
			w.Expect(w.call("user.invite", areatest.As(acctA, alice), acctA, "", areatest.Object{"email": u.Email}), 200)
			if roles := w.roles(acctA, bob); len(roles) != 1 || roles[0] != "team_member" {
				t.Errorf("roles %v", roles)
			}
		})
	}
}

func TestRepeatedRemovalIsNotFoundAndCommitted(t *testing.T) {
	w := newWorld(t)
	w.Expect(w.call("user.remove", areatest.As(acctA, alice), acctA, bob, nil), 200)
	want := w.call("user.remove", areatest.As(acctA, alice), acctA, absent, nil)
	w.Expect(want, 404, "USER_001")
	for _, id := range []string{bob, bea, "uuid-" + bea, nora} {
		rev := w.Revision(acctA)
		if got := w.call("user.remove", areatest.As(acctA, alice), acctA, id, nil); got.Text != want.Text {
			t.Errorf("%s: %s", id, got.Text)
		}
		if w.Revision(acctA) != rev+1 {
			t.Errorf("%s: the answer is no outcome of a commit", id)
		}
	}
	if w.get(bea).AccountID != acctB {
		t.Error("somebody else's member was removed")
	}
	w.Expect(w.call("user.remove", areatest.As(acctA, bob), acctA, bob, nil), 403, "AUTH_003") // no member any more
}

func TestRemovalNeedsTheRight(t *testing.T) {
	w := newWorld(t)
	w.key(acctA, bob, "apikey-b-v1")
	for _, id := range []string{alice, bea, absent} {
		w.Expect(w.call("user.remove", areatest.As(acctA, bob), acctA, id, nil), 403, "no active role of the user grants account:user:delete in acct-a-v1")
		w.Expect(w.call("user.remove", areatest.Service(resources.ServiceScopeCheck), acctA, id, nil), 403, "no scope of the service")
	}
	w.Expect(w.call("user.remove", areatest.As(acctB, bea), acctA, bob, nil), 403)
	w.Expect(w.call("user.remove", areatest.By(acctA, bob, "apikey-b-v1", "read"), acctA, bob, nil), 403)
	w.Expect(w.call("user.remove", areatest.By(acctA, bob, "apikey-gone-v1", "write"), acctA, bob, nil), 403)
	w.Expect(w.call("user.remove", areatest.As(acctA, alice), acctA, bob, areatest.Object{"force": true}), 400, "force: unknown field")
	r := ask(areatest.As(acctA, alice), acctA, bob, nil)
	r.Query = "x=1"
	w.Expect(w.Ask("user.remove", r), 400, "x: unknown query parameter")
	w.SetAccount(acctA, resources.StatusSuspended)
	w.Expect(w.call("user.remove", areatest.As(acctA, alice), acctA, bob, nil), 403)
	w.Expect(w.call("user.remove", areatest.As(acctA, bob), acctA, bob, nil), 403)
	if w.get(bob).AccountID != acctA {
		t.Error("the member was removed")
	}
}
