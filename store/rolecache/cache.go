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
	// maxChanges is how many accounts a barrier takes over one by one. Where more have moved, it
	// forgets all known revisions.
	maxChanges = 10_000
	// maxAccounts bounds the known revisions.
	maxAccounts = 100_000
)

// errOldSnapshot means an engine that broke its contract: its snapshot is older than a revision it reported before.
var errOldSnapshot = errors.New("rolecache: a snapshot is older than the revision for which it was read")

// key is the name of an immutable value. A value that many users share has a kind, a user's own has none.
type key struct {
	generation, account string
	revision            int64
	id                  string
	kind                records.Shared
}

// Options are the settings of a Cache.
type Options struct {
	// Entries bounds the values of each kind: of users, of what they share, of identities, and of
	// unknown API keys. It is rounded as memo.New does.
	Entries int
	// Within is the deadline of a barrier; 0 is none but the request's.
	Within time.Duration
	// Lease is how long a barrier may be used after it has begun; with 0 each request makes one. The cache declares the
	// lease to the store, whose writers wait for it to end. With a lease, Run has to run.
	Lease time.Duration
	// Local is a store in this process. A barrier costs nothing there: each request makes its own, and shares only the
	// reads of a moved revision.
	Local bool
	// Clock is required with a lease. It never stops and never goes back, also while the machine
	// is suspended.
	Clock func() time.Duration
	// Remote is the second level; nil is none. Secrets authenticate its values, the first one those
	// that are stored. Observe is called with the result of each look into it.
	Remote  Remote
	Secrets [][]byte
	Observe func(result string)
	// Reads bounds the reads of the store under way, and those in its queue; nil sets no bound.
	Reads *gate.Gate
}

// Cache answers with facts of the current revision. It is safe for concurrent use.
type Cache struct {
	store    store.Store
	records  records.Collections
	subjects *memo.Table[key, *resources.Subject]
	shared   *memo.Table[key, any]
	homes    *memo.Table[lookup, userRef]
	// unknown are ids without an API key, with the epoch of the store at that time.
	unknown *memo.Table[string, store.Freshness]
	flights flights
	rounds  rounds
	timeout time.Duration
	lease   time.Duration
	local   bool
	remote  *remote
	reads   *gate.Gate
	clock   func() time.Duration
	// read is when the newest barrier began; 0 before the first.
	read atomic.Int64
	// declared is the generation of the lease's last declaration to the store.
	declared string

	mu         sync.RWMutex
	generation string
	epoch      int64
	revisions  map[string]int64
}

// New returns an empty cache before the store.
func New(s store.Store, c records.Collections, o Options) *Cache {
	cache := &Cache{
		store: s, records: c, timeout: o.Within, lease: o.Lease, local: o.Local, reads: o.Reads, clock: o.Clock, revisions: map[string]int64{},
		subjects: memo.New[key, *resources.Subject](o.Entries), shared: memo.New[key, any](o.Entries),
		homes: memo.New[lookup, userRef](o.Entries), unknown: memo.New[string, store.Freshness](o.Entries),
	}
	cache.flights.running = map[flightName]*flight{}
	if o.Remote != nil {
		cache.remote = &remote{Remote: o.Remote, format: factsFormat(), keys: o.Secrets, observe: o.Observe}
	}
	return cache
}

// Facts returns the facts about the user, the account and, unless it is "", the project. They are of one revision, and
// have every change that was answered before the call. On an error no decision can be made.
func (c *Cache) Facts(ctx context.Context, account, user, project string) (resources.Facts, error) {
	if err := c.catchUp(ctx); err != nil {
		return resources.Facts{}, err
	}
	generation, revision, err := c.revision(ctx, account)
	if err != nil {
		return resources.Facts{}, err
	}
	k := key{generation: generation, account: account, revision: revision, id: user}
	pair := resources.About{UserID: user, ProjectID: project}
	if facts, ok := c.cached(k, &pair); ok {
		return facts, nil
	}
	return c.fill(ctx, k, pair)
}

// cached returns the facts of that revision from the first level; ok is false on a miss.
func (c *Cache) cached(k key, pair *resources.About) (facts resources.Facts, ok bool) {
	facts.Revision = k.revision
	subject := c.subjects.Get(k)
	if subject == nil {
		return facts, false
	}
	facts.Subject = *subject
	if pair.ProjectID != "" {
		state := c.shared.Get(k.shared(records.SharedProject, pair.ProjectID))
		if state == nil {
			return facts, false
		}
		facts.ProjectState = (*state).(string)
	}
	return facts, !pair.Agent.Named() || c.cachedAgent(k, pair, &facts)
}

// cachedAgent adds the facts about the pair's agent from the first level, and reports whether all of them are there.
func (c *Cache) cachedAgent(k key, pair *resources.About, facts *resources.Facts) bool {
	agent := pair.Agent.ID
	if agent == "" {
		id := c.shared.Get(k.shared(records.SharedClient, records.AgentClientID(k.account, pair.Agent.Client)))
		if id == nil {
			return false
		}
		agent = (*id).(string)
	}
	subject := c.shared.Get(k.shared(records.SharedAgent, agent))
	if subject == nil {
		return false
	}
	facts.Agent = (*subject).(*resources.Subject)
	if pair.UserID == "" {
		return true
	}
	delegation := c.shared.Get(k.shared(records.SharedDelegation, records.DelegationID(k.account, pair.UserID, agent)))
	if delegation == nil {
		return false
	}
	facts.Delegation = (*delegation).(*resources.Delegation)
	return true
}

// fill makes one read for all concurrent misses of the same key, which names the revision. The second level has no facts
// about agents.
func (c *Cache) fill(ctx context.Context, k key, pair resources.About) (resources.Facts, error) {
	return together(ctx, c, flightName{key: k, pair: pair}, func(ctx context.Context) (facts resources.Facts, err error) {
		if facts, ok := c.cached(k, &pair); ok { // the flight before this one stored them
			return facts, nil
		}
		if c.remote != nil && !pair.Agent.Named() {
			if facts := c.remote.facts(ctx, k, pair)[0]; facts.Subject != nil {
				c.put(k, pair.ProjectID, facts)
				return facts, nil
			}
		}
		loaded, err := c.load(ctx, k, pair)
		if err != nil {
			return resources.Facts{}, err
		}
		return loaded[0], nil
	})
}

// load reads the values of several questions of the account in one snapshot of the store; it may be newer than the
// key's. It caches them after the view has returned: the view's function may run on a history that is undone, and its
// revision is then used again.
func (c *Cache) load(ctx context.Context, k key, pairs ...resources.About) (facts []resources.Facts, err error) {
	var values map[key]any
	err = c.view(ctx, k.account, func(tx store.Tx) (err error) {
		facts, err = c.records.LoadFactsOf(ctx, tx, k.account, pairs, func(revision int64) records.ReadThrough {
			values = map[key]any{}
			return c.sharing(key{generation: k.generation, account: k.account, revision: revision}, values)
		})
		return err
	})
	if err == nil && facts[0].Revision < k.revision {
		err = errOldSnapshot
	}
	if err != nil {
		return nil, err
	}
	if k.revision = facts[0].Revision; k.revision == 0 { // the account does not exist
		return facts, nil
	}
	for named, v := range values {
		if !records.Invented(v) {
			c.shared.Put(named, v)
		}
	}
	for i, pair := range pairs {
		c.put(k.named(pair.UserID), pair.ProjectID, facts[i])
	}
	if c.remote != nil {
		c.remote.put(ctx, k, pairs, facts)
	}
	return facts, nil
}

// view reads a snapshot of the store, once the gate lets it in. A service takes its turn as the account, "" for an
// unknown one.
func (c *Cache) view(ctx context.Context, account string, fn func(store.Tx) error) error {
	if err := c.reads.Enter(ctx, account); err != nil {
		return err
	}
	defer c.reads.Leave()
	return c.store.View(ctx, fn)
}

// lasts reports whether the facts change with the account's revision alone: those of a member, and those of the account
// itself, without a user. Facts about another user change without the account, and a client can invent such users.
func lasts(s *resources.Subject) bool { return s.Member || s.UserID == "" }

// put caches the values under the key with their revision. It leaves out values a client could invent.
func (c *Cache) put(k key, project string, facts resources.Facts) {
	if lasts(facts.Subject) {
		c.subjects.Put(k, facts.Subject)
	}
	if project != "" && facts.ProjectState != resources.ProjectAbsent {
		c.shared.Put(k.shared(records.SharedProject, project), facts.ProjectState)
	}
}

// sharing returns the reader of what users of the account share at that revision. It adds to found
// what it had to read.
func (c *Cache) sharing(k key, values map[key]any) records.ReadThrough {
	return records.NewReadThrough(func(kind records.Shared, id string) (any, bool) {
		named := k.shared(kind, id)
		if v := c.shared.Get(named); v != nil {
			return *v, true
		}
		v, ok := values[named]
		return v, ok
	}, func(kind records.Shared, id string, v any) { values[k.shared(kind, id)] = v })
}

// named returns the name of the user's or the project's value of the same revision.
func (k key) named(id string) key {
	k.id = id
	return k
}

// shared returns the name of a shared value of the same revision.
func (k key) shared(kind records.Shared, id string) key {
	k.kind, k.id = kind, id
	return k
}
