package rolecache_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/rolecache"
)

// failover is a replica set after its old primary was cut off. The old primary made a change, which no other node has,
// and still reads it. The new primary gives the same revision to another change.
type failover struct {
	*sharing
	old *sharing
	// read replaces View; nil reads from the new primary.
	read func(ctx context.Context, fn func(store.Tx) error) error
}

// View implements store.Store.
func (f *failover) View(ctx context.Context, fn func(store.Tx) error) error {
	if f.read != nil {
		return f.read(ctx, fn)
	}
	return f.sharing.View(ctx, fn)
}

// grants returns changes of facts. Each would allow users more.
func grants(c records.Collections) map[string]func(context.Context, store.Tx) error {
	return map[string]func(context.Context, store.Tx) error{
		"account": func(ctx context.Context, tx store.Tx) error {
			rec, err := c.Accounts.Get(ctx, tx, account)
			rec.Value.Status = "RESTORED"
			return replaced(ctx, tx, c.Accounts, rec, err)
		},
		"project": func(ctx context.Context, tx store.Tx) error {
			rec, err := c.Projects.Get(ctx, tx, "proj-p-v1")
			rec.Value.State = "restored"
			return replaced(ctx, tx, c.Projects, rec, err)
		},
		"role": func(ctx context.Context, tx store.Tx) error {
			rec, err := c.Roles.Get(ctx, tx, "role-a-v1")
			rec.Value.Permissions = append(rec.Value.Permissions, "project:*:*")
			return replaced(ctx, tx, c.Roles, rec, err)
		},
		"group": func(ctx context.Context, tx store.Tx) error {
			return (&sharing{c: c}).hold(ctx, tx, resources.AssigneeGroup, "group-a-v1", "project_admin")
		},
		"user": func(ctx context.Context, tx store.Tx) error {
			return (&sharing{c: c}).hold(ctx, tx, resources.AssigneeUser, member(1), "project_admin")
		},
	}
}

// TestUndoneHistoryAnswersForNobody guarantees that neither level caches the values of a read without a commit: another
// change gets their revision.
func TestUndoneHistoryAnswersForNobody(t *testing.T) {
	for changed, grant := range grants(records.NewCollections()) {
		for _, asked := range []string{member(0), member(1)} {
			t.Run(changed+" asked about "+asked, func(t *testing.T) { undone(t, grant, asked) })
		}
	}
}

func undone(t *testing.T, grant func(context.Context, store.Tx) error, asked string) {
	f := &failover{sharing: newSharing(t, 2, 100), old: newSharing(t, 2, 100)}
	s := &shelf{values: map[string][]byte{}}
	first, second := f.replica(t, s), f.replica(t, s)
	ask := func(c *rolecache.Cache, user string) (resources.Facts, error) {
		return c.Facts(t.Context(), account, user, "proj-p-v1")
	}
	f.old.change(t, grant)
	f.read = func(ctx context.Context, fn func(store.Tx) error) error {
		if err := f.old.View(ctx, fn); err != nil {
			t.Error(err)
		}
		return store.ErrUnavailable // no majority has the change
	}
	if facts, err := ask(first, asked); err == nil || facts.Subject != nil {
		t.Fatalf("a read that did not commit was answered: %+v", facts.Subject)
	}
	if len(s.values) > 0 {
		t.Errorf("replicas share %d values of it", len(s.values))
	}
	f.read = nil
	f.change(t, func(context.Context, store.Tx) error { return nil }) // at the revision of the undone change
	for _, c := range []*rolecache.Cache{first, second} {
		for i := range 2 {
			f.wantTrue(t, c, member(i))
		}
	}
}

// TestOnlyTheLastRunOfAViewCounts guarantees that the cache uses the last run of a view's function: an engine may run
// it on an undone history first, and then on the committed one, at the same revision.
func TestOnlyTheLastRunOfAViewCounts(t *testing.T) {
	for changed, grant := range grants(records.NewCollections()) {
		t.Run(changed, func(t *testing.T) {
			f := &failover{sharing: newSharing(t, 2, 100), old: newSharing(t, 2, 100)}
			c := f.replica(t, &shelf{values: map[string][]byte{}})
			f.old.change(t, grant)
			f.change(t, func(context.Context, store.Tx) error { return nil })
			f.read = func(ctx context.Context, fn func(store.Tx) error) error {
				if err := f.old.View(ctx, fn); err != nil {
					t.Error(err)
				}
				return f.sharing.View(ctx, fn)
			}
			for i := range 2 {
				f.wantTrue(t, c, member(i))
			}
		})
	}
}

// TestOwnerOfAnUndoneRunIsForgotten guarantees that the cache does not find a key from the first run of a view if the
// last run does not have it.
func TestOwnerOfAnUndoneRunIsForgotten(t *testing.T) {
	f := &failover{sharing: newSharing(t, 2, 100), old: newSharing(t, 2, 100)}
	c := f.replica(t, &shelf{values: map[string][]byte{}})
	key := func(owner string) func(context.Context, store.Tx) error {
		return func(ctx context.Context, tx store.Tx) error {
			return f.c.APIKeys.Insert(ctx, tx, resources.APIKey{ID: "apikey-1-v1", AccountID: account, UserID: owner, Name: "k", Hash: []byte("h")})
		}
	}
	f.old.change(t, key(member(0)))
	f.read = func(ctx context.Context, fn func(store.Tx) error) error {
		if err := f.old.View(ctx, fn); err != nil {
			t.Error(err)
		}
		return f.sharing.View(ctx, fn)
	}
	if got, exists, err := c.IdentifyKey(t.Context(), "apikey-1-v1"); exists || err != nil {
		t.Errorf("%+v %v", got, err)
	}
	f.read = nil
	f.change(t, key(member(1)))
	if got, exists, err := c.IdentifyKey(t.Context(), "apikey-1-v1"); !exists || got.Owner.ID != member(1) || err != nil {
		t.Errorf("the key's owner is %q, %t, %v: the owner of the undone run is remembered", got.Owner.ID, exists, err)
	}
}

// replica returns a cache before the set, with a second level.
func (f *failover) replica(t *testing.T, r rolecache.Remote) *rolecache.Cache {
	t.Helper()
	c := rolecache.New(f, f.c, rolecache.Options{Entries: 100, Remote: r, Secrets: [][]byte{secret}, Observe: func(string) {}})
	return c
}

// wantTrue checks that the cache returns the user's facts of the new primary.
func (f *failover) wantTrue(t *testing.T, c *rolecache.Cache, user string) {
	t.Helper()
	got, err := c.Facts(t.Context(), account, user, "proj-p-v1")
	if err != nil {
		t.Fatal(err)
	}
	var want resources.Facts
	err = f.Store.View(t.Context(), func(tx store.Tx) (err error) {
		want, err = f.c.LoadFacts(t.Context(), tx, account, user, "proj-p-v1")
		return err
	})
	if show := func(f resources.Facts) string { return fmt.Sprintf("%d %s %+v", f.Revision, f.ProjectState, f.Subject) }; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s is\n%s, want\n%s, %v", user, show(got), show(want), err)
	}
}
