package rolecache

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/resources/memo"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

const (
	// maxChanges is how many accounts are taken over one by one; beyond it all known
	// revisions are forgotten.
	maxChanges = 10_000
	// maxAccounts bounds the revisions that are known.
	maxAccounts = 100_000
)

// errOldFill would be an engine that breaks its contract: a snapshot older than a
// revision that it had reported.
var errOldFill = errors.New("rolecache: a snapshot was older than the revision it was read for")

// key names an immutable value: id is a user or a project.
type key struct {
	generation, account string
	revision            int64
	id                  string
}

// sharedKey names an immutable value that many users share.
type sharedKey struct {
	key
	kind records.Shared
}

// Options bound the cache.
type Options struct {
	// Entries is how many users' values are kept, and how many of those that they share; at least 1.
	Entries int
	// Within bounds one read of how far the store has come; 0 is no bound but the request's.
	Within time.Duration
	// Lease is for how long a read of how far the store has come is used, from its beginning
	// on; 0 reads anew for each request. The store is told, and its writers wait it out. With
	// a lease, Run has to run.
	Lease time.Duration
	// Local says that the store is in this process, where such a read costs nothing: each
	// request makes its own, and shares only what follows when something has moved.
	Local bool
	// Clock never stands still and never goes back, also while the machine is suspended;
	// needed with a lease.
	Clock func() time.Duration
	// Remote is a second level that replicas share; nil is none. Secrets authenticate its
	// values, the first one in use; Observe counts what becomes of a look into it.
	Remote  Remote
	Secrets [][]byte
	Observe func(result string)
	// Reads bounds the reads of the store that are under way at once, and those that wait;
	// nil is no bound.
	Reads *gate.Gate
}

// Cache answers with facts of the current revision.
type Cache struct {
	store    store.Store
	c        records.Collections
	subjects *memo.Table[key, *resources.Subject]
	shared   *memo.Table[sharedKey, any]
	homes    *memo.Table[lookup, home]
	// unknown are ids of keys that were not there, with how far the store had come.
	unknown *memo.Table[string, store.Freshness]
	flights flights
	rounds  rounds
	within  time.Duration
	lease   time.Duration
	local   bool
	remote  *remote
	reads   *gate.Gate
	clock   func() time.Duration
	// read is when the newest read that was taken over began; 0 before the first.
	read atomic.Int64
	// declared is the generation of the store in which it knows of the lease.
	declared string

	mu         sync.RWMutex
	generation string
	epoch      int64
	revisions  map[string]int64
}

// New makes an empty cache in front of the store.
func New(s store.Store, c records.Collections, o Options) *Cache {
	cache := &Cache{
		store: s, c: c, within: o.Within, lease: o.Lease, local: o.Local, reads: o.Reads, clock: o.Clock, revisions: map[string]int64{},
		subjects: memo.New[key, *resources.Subject](o.Entries), shared: memo.New[sharedKey, any](o.Entries),
		homes: memo.New[lookup, home](o.Entries), unknown: memo.New[string, store.Freshness](o.Entries),
	}
	cache.flights.under = map[flightName]*flight{}
	if o.Remote != nil {
		cache.remote = &remote{Remote: o.Remote, keys: o.Secrets, observe: o.Observe}
	}
	return cache
}

// Facts gives what a decision about the user, the account and (where it is not "")
// the project rests on, all of one revision, at least as new as every change that was
// answered before the call. An error means that no decision can be made.
func (c *Cache) Facts(ctx context.Context, account, user, project string) (resources.Facts, error) {
	if err := c.catchUp(ctx); err != nil {
		return resources.Facts{}, err
	}
	generation, revision, err := c.revision(ctx, account)
	if err != nil {
		return resources.Facts{}, err
	}
	k := key{generation, account, revision, user}
	if facts, ok := c.kept(k, project); ok {
		return facts, nil
	}
	return c.fill(ctx, k, project)
}

// kept gives what is there of that very revision.
func (c *Cache) kept(k key, project string) (facts resources.Facts, ok bool) {
	facts.Revision = k.revision
	subject := c.subjects.Get(k)
	if subject == nil {
		return facts, false
	}
	facts.Subject = *subject
	if project == "" {
		return facts, true
	}
	state := c.shared.Get(k.of(records.SharedProject, project))
	if state == nil {
		return facts, false
	}
	facts.ProjectState = (*state).(string)
	return facts, true
}

// fill reads one snapshot for all who ask for the same key at once; that is safe
// since the key names the revision.
func (c *Cache) fill(ctx context.Context, k key, project string) (resources.Facts, error) {
	return together(ctx, c, flightName{key: k, project: project}, func(ctx context.Context) (facts resources.Facts, err error) {
		if facts, ok := c.kept(k, project); ok { // the flight before this one brought it
			return facts, nil
		}
		if c.remote != nil {
			if facts, ok := c.remote.facts(ctx, k, project); ok {
				c.keep(k, project, facts)
				return facts, nil
			}
		}
		return c.load(ctx, k, project)
	})
}

// load reads the values from the store. They are kept once the view has returned: its function
// may have run on a history that is undone, under a revision that is given again.
func (c *Cache) load(ctx context.Context, k key, project string) (facts resources.Facts, err error) {
	var found map[sharedKey]any
	err = c.view(ctx, func(tx store.Tx) (err error) {
		facts, err = c.c.LoadFactsKeeping(ctx, tx, k.account, k.id, project, func(revision int64) records.Keep {
			found = map[sharedKey]any{}
			return c.sharing(key{k.generation, k.account, revision, ""}, found)
		})
		return err
	})
	if err == nil && facts.Revision < k.revision {
		err = errOldFill
	}
	if err != nil {
		return resources.Facts{}, err
	}
	if facts.Revision == 0 { // the account does not exist
		return facts, nil
	}
	for named, v := range found {
		c.shared.Put(named, v)
	}
	c.keep(k, project, facts)
	if c.remote != nil {
		k.revision = facts.Revision
		c.remote.keep(ctx, k, project, facts)
	}
	return facts, nil
}

// view reads the store when there is room: what is known already is never in its way.
func (c *Cache) view(ctx context.Context, fn func(store.Tx) error) error {
	if err := c.reads.Enter(ctx); err != nil {
		return err
	}
	defer c.reads.Leave()
	return c.store.View(ctx, fn)
}

// keep stores the values under the revision of which they are.
func (c *Cache) keep(k key, project string, facts resources.Facts) {
	k.revision = facts.Revision
	c.subjects.Put(k, facts.Subject)
	if project != "" {
		c.shared.Put(k.of(records.SharedProject, project), facts.ProjectState)
	}
}

// sharing gives what users of the account share at that revision; what had to be read is in found.
func (c *Cache) sharing(k key, found map[sharedKey]any) records.Keep {
	return func(kind records.Shared, id string, read func() (any, error)) (any, error) {
		named := k.of(kind, id)
		if v := c.shared.Get(named); v != nil {
			return *v, nil
		}
		if v, ok := found[named]; ok {
			return v, nil
		}
		v, err := read()
		if err == nil {
			found[named] = v
		}
		return v, err
	}
}

// of names what is shared at the same revision.
func (k key) of(kind records.Shared, id string) sharedKey {
	k.id = id
	return sharedKey{k, kind}
}
