package rolecache_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/mongodb"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/rolecache"
	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/servers"
)

// trips counts commands to MongoDB, those that begin a snapshot, and looks into Redis.
type trips struct {
	rolecache.Remote
	commands, snapshots, looks atomic.Int64
}

// Get implements rolecache.Remote. It repeats a look that times out on a busy machine, and counts it once.
func (n *trips) Get(ctx context.Context, keys ...string) (values [][]byte, err error) {
	n.looks.Add(1)
	for range 20 {
		if values, err = n.Remote.Get(ctx, keys...); !late(err) {
			break
		}
	}
	return values, err
}

// Set implements rolecache.Remote. It repeats a write that timed out on a busy machine.
func (n *trips) Set(ctx context.Context, values map[string][]byte) {
	keys := slices.Collect(maps.Keys(values))
	for range 20 {
		n.Remote.Set(ctx, values)
		if stored, err := n.Remote.Get(ctx, keys...); err == nil && !slices.ContainsFunc(stored, func(v []byte) bool { return v == nil }) || !late(err) && err != nil {
			break
		}
	}
}

func (n *trips) monitor() *event.CommandMonitor {
	return &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
		n.commands.Add(1)
		if begins, err := e.Command.LookupErr("startTransaction"); err == nil && begins.Boolean() {
			n.snapshots.Add(1)
		}
	}}
}

// replica returns a store and a cache with connections of their own, as another process has.
func (n *trips) replica(t *testing.T, mongo, redis string) (*mongodb.Store, *rolecache.Cache) {
	t.Helper()
	c := records.NewCollections()
	s := must.Get(mongodb.Open(t.Context(), mongodb.Options{URL: mongo, Schemas: c.Schemas(), Monitor: n.monitor()}))(t)
	t.Cleanup(func() { _ = s.Close() })
	n.Remote = onRedis(t, redis)
	cache := rolecache.New(s, c, rolecache.Options{
		Entries: 100, Lease: time.Hour, Clock: func() time.Duration { return time.Minute },
		Remote: n, Secrets: [][]byte{secret}, Observe: func(string) {},
	})
	return s, cache
}

// TestRoundTrips guarantees the round trips of a question: none for a hit of the first level, one to Redis for a hit of
// the second level, and one snapshot of the database for a miss of both, also without Redis.
func TestRoundTrips(t *testing.T) {
	url := servers.Mongo(t, 1).Database(t)
	redis := servers.NewRedis(t)
	first := &trips{}
	s, cache := first.replica(t, url, redis.URL)
	c := records.NewCollections()
	must.Do(t, s.Transact(t.Context(), func(tx store.Tx) error {
		if err := c.Accounts.Insert(t.Context(), tx, resources.Account{ID: account, Status: "ACTIVE"}); err != nil {
			return err
		}
		_, err := tx.Bump(t.Context(), account)
		return errors.Join(
			err, c.Users.Insert(t.Context(), tx, resources.User{ExternalID: user, AccountID: account, Email: "u@a.example"}),
			c.Projects.Insert(t.Context(), tx, resources.Project{ID: "proj-p-v1", AccountID: account, State: resources.ProjectActive}),
		)
	}))
	// catchUp brings a cache to the store's epoch before the steps below count reads.
	catchUp := func(cache *rolecache.Cache) {
		t.Helper()
		must.Get(cache.Facts(t.Context(), "acct-none-v1", "user-none-v1", ""))(t)
	}
	second, gone := &trips{}, &trips{}
	_, another := second.replica(t, url, redis.URL)
	_, alone := gone.replica(t, url, redis.URL)
	for _, cache := range []*rolecache.Cache{cache, another, alone} {
		catchUp(cache)
	}
	for _, step := range []struct {
		name                       string
		cache                      *rolecache.Cache
		seen                       *trips
		before                     func()
		looks, snapshots, commands int64
	}{
		{"nobody knows", cache, first, nil, 1, 1, -1},
		{"warm", cache, first, nil, 0, 0, 0},
		{"cold", another, second, nil, 1, 0, 0},
		{"warm after cold", another, second, nil, 0, 0, 0},
		{"cold without Redis", alone, gone, redis.Kill, 1, 1, -1},
		{"warm without Redis", alone, gone, nil, 0, 0, 0},
	} {
		if step.before != nil {
			step.before()
		}
		looks, snapshots, commands := step.seen.looks.Load(), step.seen.snapshots.Load(), step.seen.commands.Load()
		facts, err := step.cache.Facts(t.Context(), account, user, "proj-p-v1")
		if err != nil || facts.Revision != 1 || !facts.Subject.AccountExists {
			t.Fatalf("%s: %+v %v", step.name, facts, err)
		}
		looks, snapshots, commands = step.seen.looks.Load()-looks, step.seen.snapshots.Load()-snapshots, step.seen.commands.Load()-commands
		t.Logf("%s: %d to Redis, %d snapshots of MongoDB (%d commands)", step.name, looks, snapshots, commands)
		if looks != step.looks || snapshots != step.snapshots || step.commands >= 0 && commands != step.commands {
			t.Errorf("%s: want %d to Redis, %d snapshots", step.name, step.looks, step.snapshots)
		}
	}
}
