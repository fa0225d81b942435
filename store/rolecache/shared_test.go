package rolecache_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/rolecache"
	"github.com/portcullis-authz/portcullis/store/sqlite"
	"github.com/portcullis-authz/portcullis/test/must"
)

// sharing is an embedded store with a cache. It counts the records that the cache reads, by collection.
type sharing struct {
	store.Store
	c     records.Collections
	cache *rolecache.Cache
	got   map[string]int
}

// View implements store.Store.
func (s *sharing) View(ctx context.Context, fn func(store.Tx) error) error {
	return s.Store.View(ctx, func(tx store.Tx) error { return fn(gets{tx, s.got}) })
}

type gets struct {
	store.Tx
	got map[string]int
}

// Get implements store.Tx.
func (g gets) Get(ctx context.Context, schema *store.Schema, key string) (store.Row, error) {
	g.got[schema.Name]++
	return g.Tx.Get(ctx, schema, key)
}

// Together implements store.Tx.
func (g gets) Together(ctx context.Context, account string, reads ...store.Read) (int64, [][]store.Row, error) {
	g.got["reads together"]++
	for _, r := range reads {
		if r.Query.Index == "" {
			g.got[r.Schema.Name]++
		}
	}
	return g.Tx.Together(ctx, account, reads...)
}

// members is the number of users in the account of the tests.
const members = 5

func member(i int) string { return fmt.Sprintf("user-%d-v1", i) }

// newSharing returns a store with an account of some users. All are in one group, and each holds a role of their own.
func newSharing(t testing.TB, users, entries int) *sharing {
	t.Helper()
	s := &sharing{c: records.NewCollections(), got: map[string]int{}}
	engine := must.Get(sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir(), Schemas: s.c.Schemas()}))(t)
	t.Cleanup(func() { _ = engine.Close() })
	s.Store = engine
	s.cache = rolecache.New(s, s.c, rolecache.Options{Entries: entries, Local: true})
	s.change(t, func(ctx context.Context, tx store.Tx) error {
		err := s.c.Accounts.Insert(ctx, tx, resources.Account{ID: account, Status: resources.StatusActive})
		if err == nil {
			err = s.c.Projects.Insert(ctx, tx, resources.Project{ID: "proj-p-v1", AccountID: account, State: resources.ProjectActive})
		}
		if err == nil {
			err = s.c.Roles.Insert(ctx, tx, resources.Role{
				ID: "role-a-v1", AccountID: account, Scope: resources.RoleScopeProject, Status: resources.StatusActive, Permissions: []string{"project:a:read"},
			})
		}
		if err == nil {
			err = s.hold(ctx, tx, resources.AssigneeGroup, "group-a-v1", "role-a-v1")
		}
		for i := 0; err == nil && i < users; i++ {
			err = s.join(ctx, tx, member(i))
		}
		return err
	})
	return s
}

func (s *sharing) change(t testing.TB, fn func(context.Context, store.Tx) error) {
	t.Helper()
	must.Do(t, s.Transact(t.Context(), func(tx store.Tx) error {
		if _, err := tx.Bump(t.Context(), account); err != nil {
			return err
		}
		return fn(t.Context(), tx)
	}))
}

func (s *sharing) hold(ctx context.Context, tx store.Tx, kind, assignee, role string) error {
	a := resources.Assignment{
		AccountID: account, RoleID: role, RoleScope: resources.RoleScopeProject, ProjectID: "proj-p-v1",
		AssigneeType: kind, AssigneeID: assignee, Status: resources.StatusActive,
	}
	a.ID = records.AssignmentID(a)
	return s.c.Assignments.Insert(ctx, tx, a)
}

func (s *sharing) join(ctx context.Context, tx store.Tx, user string) error {
	err := s.c.Users.Insert(ctx, tx, resources.User{ExternalID: user, UUID: user, Email: user, AccountID: account, Status: resources.StatusActive})
	if err == nil {
		err = s.c.Members.Insert(ctx, tx, resources.GroupMember{
			ID: records.MemberID("group-a-v1", user), AccountID: account, GroupID: "group-a-v1", UserID: user,
		})
	}
	if err == nil {
		err = s.hold(ctx, tx, resources.AssigneeUser, user, "project_reader")
	}
	return err
}

// TestWhatUsersShareIsReadOnce guarantees that a question about another user of an account does not read the account,
// its roles and its projects again.
func TestWhatUsersShareIsReadOnce(t *testing.T) {
	s := newSharing(t, members, 1000)
	for range 2 {
		for i := range members {
			if facts, err := s.cache.Facts(t.Context(), account, member(i), "proj-p-v1"); err != nil || len(facts.Subject.Assignments) != 2 {
				t.Fatal(facts, err)
			}
		}
	}
	delete(s.got, "reads together")
	want := map[string]int{"accounts": 1, "projects": 1, "roles": 2, "users": members}
	if !maps.Equal(s.got, want) {
		t.Errorf("records were got %v, want %v", s.got, want)
	}
}

// TestFactsOfManyAreReadInFewSteps guarantees that FactsOf reads the facts of 64 users in at most seven steps, though
// they share no roles, groups or projects. On some engines each step is a round trip.
func TestFactsOfManyAreReadInFewSteps(t *testing.T) {
	s := newSharing(t, members, 10_000)
	var all []resources.About
	s.change(t, func(ctx context.Context, tx store.Tx) (err error) {
		for i := 0; i < 256 && err == nil; i++ {
			id := func(prefix string) string { return fmt.Sprintf("%s-own%d-v1", prefix, i) }
			all = append(all, resources.About{UserID: id("user"), ProjectID: id("proj")})
			u := resources.User{ExternalID: id("user"), UUID: id("user"), Email: id("user"), AccountID: account, Status: resources.StatusActive}
			role := resources.Role{ID: id("role"), Name: id("role"), AccountID: account, Scope: resources.RoleScopeProject, Status: resources.StatusActive, Permissions: []string{"project:a:read"}}
			err = errors.Join(
				s.c.Users.Insert(ctx, tx, u), s.c.Projects.Insert(ctx, tx, resources.Project{ID: id("proj"), AccountID: account, Name: id("proj"), State: resources.ProjectActive}),
				s.c.Roles.Insert(ctx, tx, role), s.hold(ctx, tx, resources.AssigneeUser, id("user"), id("role")), s.hold(ctx, tx, resources.AssigneeGroup, id("group"), id("role")),
				s.c.Members.Insert(ctx, tx, resources.GroupMember{ID: records.MemberID(id("group"), id("user")), AccountID: account, GroupID: id("group"), UserID: id("user")}),
			)
		}
		return err
	})
	clear(s.got)
	facts := make([]resources.Facts, len(all))
	must.Do(t, s.cache.FactsOf(t.Context(), account, all, facts))
	for i, f := range facts {
		if len(f.Subject.Assignments) != 2 || f.Subject.Assignments[1].Permissions == nil || f.ProjectState != resources.ProjectActive || f.Subject.UserID != all[i].UserID {
			t.Errorf("%+v", f)
		}
	}
	if got := s.got["reads together"]; got > 4*7 { // for each 64 users: their own, the account, groups and their roles, roles, projects
		t.Errorf("%d reads", got)
	}
}

// TestWhatUsersShareIsOfTheirRevision guarantees that the facts of every user equal those in the store after each
// change of a shared value.
func TestWhatUsersShareIsOfTheirRevision(t *testing.T) {
	s := newSharing(t, members, 1000)
	c := s.c
	changes := map[string]func(context.Context, store.Tx) error{
		"the account": func(ctx context.Context, tx store.Tx) error {
			rec, err := c.Accounts.Get(ctx, tx, account)
			rec.Value.Status = resources.StatusSuspended
			return replaced(ctx, tx, c.Accounts, rec, err)
		},
		"the project": func(ctx context.Context, tx store.Tx) error {
			rec, err := c.Projects.Get(ctx, tx, "proj-p-v1")
			rec.Value.State = resources.ProjectDeleting
			return replaced(ctx, tx, c.Projects, rec, err)
		},
		"a role": func(ctx context.Context, tx store.Tx) error {
			rec, err := c.Roles.Get(ctx, tx, "role-a-v1")
			rec.Value.Permissions = append(rec.Value.Permissions, "project:b:read")
			return replaced(ctx, tx, c.Roles, rec, err)
		},
		"a role that was not there": func(ctx context.Context, tx store.Tx) error {
			return c.Roles.Insert(ctx, tx, resources.Role{ID: "project_reader", AccountID: account, Name: "b", Status: resources.StatusInactive})
		},
		"what a group holds": func(ctx context.Context, tx store.Tx) error {
			return s.hold(ctx, tx, resources.AssigneeGroup, "group-a-v1", "project_admin")
		},
	}
	seen := map[string]bool{}
	for name, change := range changes {
		s.change(t, change)
		for i := range members {
			got, err := s.cache.Facts(t.Context(), account, member(i), "proj-p-v1")
			if err != nil {
				t.Fatal(err)
			}
			var want resources.Facts
			err = s.View(t.Context(), func(tx store.Tx) (err error) {
				want, err = c.LoadFacts(t.Context(), tx, account, member(i), "proj-p-v1")
				return err
			})
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("after a change of %s: %s is\n%+v, want\n%+v, %v", name, member(i), got.Subject, want.Subject, err)
			}
			seen[fmt.Sprintf("%s %+v", got.ProjectState, got.Subject)] = true
		}
	}
	if want := members * len(changes); len(seen) != want {
		t.Errorf("%d different facts, want %d: one of the changes has no effect", len(seen), want)
	}
}

func replaced[T any](ctx context.Context, tx store.Tx, c store.Collection[T], rec store.Record[T], err error) error {
	if err != nil {
		return err
	}
	return c.Replace(ctx, tx, rec)
}

// TestValuesOfTwoKindsAreApart guarantees that nothing else with the id of a project is taken for it.
func TestValuesOfTwoKindsAreApart(t *testing.T) {
	s := newSharing(t, 1, 100)
	must.Get(s.cache.Facts(t.Context(), account, member(0), "proj-p-v1"))(t)
	for _, id := range []string{"role-a-v1", "group-a-v1", account} {
		if facts := must.Get(s.cache.Facts(t.Context(), account, member(0), id))(t); facts.ProjectState != resources.ProjectAbsent {
			t.Errorf("%s: %q", id, facts.ProjectState)
		}
	}
}
