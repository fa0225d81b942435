package rolecache_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/rolecache"
	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/servers"
)

// many is the number of users in a large batch, and manyReads the most reads that their facts may cost.
const many, manyReads = 1000, 16

// crowded returns many users, and questions about each in one project.
func crowded() (pairs []resources.About, users []string) {
	for i := range many {
		users = append(users, fmt.Sprintf("user-n%d-v1", i))
		pairs = append(pairs, resources.About{UserID: users[i], ProjectID: "proj-p-v1"})
	}
	return pairs, users
}

// wantEach checks that the facts of each question are about its user, and of one revision.
func wantEach(t *testing.T, pairs []resources.About, facts []resources.Facts) {
	t.Helper()
	for i, f := range facts {
		if f.Subject.UserID != pairs[i].UserID || f.Subject.UserUUID != "uuid-"+pairs[i].UserID || f.ProjectState != "active" || f.Revision != facts[0].Revision {
			t.Fatalf("%d is %+v", i, f)
		}
	}
}

// TestFactsOfManyCostFewReads guarantees that FactsOf, and Homes before it, read 64 users in one view.
func TestFactsOfManyCostFewReads(t *testing.T) {
	w := newWorld(t)
	pairs, users := crowded()
	for _, id := range users {
		w.users[id] = resources.User{ExternalID: id, UUID: "uuid-" + id, AccountID: account, Status: "ACTIVE"}
	}
	for name, most := range map[string]int64{"facts": manyReads, "accounts and facts": 2*manyReads + 1} {
		cache := rolecache.New(w, records.NewCollections(), rolecache.Options{Entries: 20 * many})
		views := w.counted()
		if name != "facts" {
			homes, err := cache.Homes(t.Context(), users)
			if err != nil || slices.ContainsFunc(homes, func(home string) bool { return home != account }) {
				t.Errorf("%v %q", err, homes)
			}
		}
		facts := must.Get(factsOf(t, cache, account, pairs))(t)
		wantEach(t, pairs, facts)
		if got := views.Load(); got > most {
			t.Errorf("%s: %d reads of the store, want %d at most", name, got, most)
		}
	}
}

// TestABatchAboutOneUserIsOneRead guarantees that many questions about one user cost one read together, and no read the
// next time.
func TestABatchAboutOneUserIsOneRead(t *testing.T) {
	w := newWorld(t)
	w.set(second, func(u *resources.User) { u.AccountID, u.Status = account, "ACTIVE" })
	pairs := []resources.About{{UserID: second}, {}}
	for range 100 {
		pairs = append(pairs, resources.About{UserID: user, ProjectID: "proj-p-v1"}, resources.About{UserID: user})
	}
	if _, err := w.cache.Facts(t.Context(), other, second, ""); err != nil { // the barrier reads here, and not below
		t.Fatal(err)
	}
	views := w.counted()
	for range 2 {
		if facts, err := factsOf(t, w.cache, account, pairs); err != nil || facts[len(pairs)-1].Subject.UserStatus != "ACTIVE" || views.Load() != 1 {
			t.Errorf("%d reads, %v", views.Load(), err)
		}
	}
}

// TestReplicasShareWhatOneHasReadOfSeveral guarantees that FactsOf takes the values of another replica from the second
// level, and reads the store if one of them is forged.
func TestReplicasShareWhatOneHasReadOfSeveral(t *testing.T) {
	w, s := newWorld(t), &shelf{values: map[string][]byte{}}
	w.set(second, func(u *resources.User) { u.AccountID, u.Status = account, "ACTIVE" })
	first, _ := w.replica(s, secret)
	want := must.Get(factsOf(t, first, account, several()))(t)
	views := w.countViews()
	again, seen := w.replica(s, secret)
	if got, err := factsOf(t, again, account, several()); err != nil || !reflect.DeepEqual(got, want) || *views != 0 || s.gets != 2 {
		t.Errorf("%v, %d views, %d looks, %q", err, *views, s.gets, *seen)
	}
	for name, value := range s.values {
		s.values[name] = append(slices.Clone(value), 'x')
		*views, *seen = 0, nil
		again, seen = w.replica(s, secret)
		got, err := factsOf(t, again, account, several())
		if err != nil || !reflect.DeepEqual(got, want) || *views != 1 || !slices.Contains(*seen, rolecache.RemoteForged) {
			t.Errorf("%q is forged: %v, %d views, %q", name, err, *views, *seen)
		}
	}
}

// TestFactsOfManyOnADatabase guarantees that the facts of many users, read from MongoDB into an empty cache, cost few
// snapshots and commands.
func TestFactsOfManyOnADatabase(t *testing.T) {
	url, redis := servers.Mongo(t, 1).Database(t), servers.NewRedis(t)
	trips := &trips{}
	s, _ := trips.replica(t, url, redis.URL)
	c := records.NewCollections()
	pairs, users := crowded()
	insert := func(fn func(tx store.Tx) error) {
		t.Helper()
		must.Do(t, s.Transact(t.Context(), func(tx store.Tx) error {
			if _, err := tx.Bump(t.Context(), account); err != nil {
				return err
			}
			return fn(tx)
		}))
	}
	insert(func(tx store.Tx) error {
		if err := c.Accounts.Insert(t.Context(), tx, resources.Account{ID: account, Status: "ACTIVE"}); err != nil {
			return err
		}
		return c.Projects.Insert(t.Context(), tx, resources.Project{ID: "proj-p-v1", AccountID: account, State: resources.ProjectActive})
	})
	for start := 0; start < many; start += 50 {
		insert(func(tx store.Tx) error {
			for i, id := range users[start:][:50] {
				if err := insertMember(t.Context(), tx, c, id, start+i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	cache := rolecache.New(s, c, rolecache.Options{Entries: 20 * many, Lease: time.Hour, Clock: func() time.Duration { return time.Minute }})
	commands, snapshots, began := trips.commands.Load(), trips.snapshots.Load(), time.Now()
	homes, err := cache.Homes(t.Context(), users)
	if err != nil || slices.Contains(homes, "") {
		t.Fatal(homes, err)
	}
	facts := must.Get(factsOf(t, cache, account, pairs))(t)
	wantEach(t, pairs, facts)
	for i, f := range facts {
		if len(f.Subject.Assignments) != 1 || f.Subject.Assignments[0].ResourceID != fmt.Sprintf("instances/i%d", i) {
			t.Fatalf("%d holds %+v", i, f.Subject.Assignments)
		}
	}
	commands, snapshots = trips.commands.Load()-commands, trips.snapshots.Load()-snapshots
	t.Logf("%d users in %d ms: %d snapshots, %d commands", many, time.Since(began).Milliseconds(), snapshots, commands)
	if snapshots > 2*manyReads+2 || commands > 16*snapshots {
		t.Errorf("%d snapshots, %d commands", snapshots, commands)
	}
}

// insertMember adds a user with a role on a resource of their own.
func insertMember(ctx context.Context, tx store.Tx, c records.Collections, id string, i int) error {
	u := resources.User{ExternalID: id, UUID: "uuid-" + id, AccountID: account, Status: "ACTIVE", Email: id + "@example.org", AuthenticationPartnerID: "sub-" + id}
	if err := c.Users.Insert(ctx, tx, u); err != nil {
		return err
	}
	a := resources.Assignment{
		AccountID: account, RoleID: "viewer", RoleScope: resources.RoleScopeProject, ProjectID: "proj-p-v1", ResourceID: fmt.Sprintf("instances/i%d", i),
		AssigneeType: resources.AssigneeUser, AssigneeID: id, Status: resources.StatusActive,
	}
	a.ID = records.AssignmentID(a)
	return c.Assignments.Insert(ctx, tx, a)
}
