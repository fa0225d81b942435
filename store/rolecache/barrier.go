package rolecache

import (
	"context"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// lookUp is the revision in the flight name of a look-up of the revision: no account has it.
const lookUp = -1

// aheadOf is how many barriers Run makes in a lease.
const aheadOf = 4

// catchUp takes over every revision that moved before the call, by a barrier begun after the call; this order is the
// guarantee.
//
// With a lease, a barrier begun within the lease will do: a writer waits for such barriers to expire before it answers.
func (c *Cache) catchUp(ctx context.Context) error {
	if !resources.IsStrict(ctx) && c.withinLease() || c.caughtUp(ctx) {
		return nil
	}
	return c.rounds.join(ctx, c.barrier)
}

// withinLease reports whether the newest barrier may still be used.
func (c *Cache) withinLease() bool {
	if c.lease <= 0 {
		return false
	}
	read := c.read.Load()
	if read == 0 {
		return false
	}
	// The clock went back, against its promise: the age is unknown.
	ago := c.clock() - time.Duration(read)
	return ago >= 0 && ago <= c.lease
}

// caughtUp reports whether nothing has moved in a store in this process, where the question costs nothing.
func (c *Cache) caughtUp(ctx context.Context) bool {
	if !c.local {
		return false
	}
	// The store is asked first: the cache can only have come further since.
	freshness, err := c.store.Freshness(ctx)
	return err == nil && freshness == c.now()
}

// Run makes barriers ahead of requests, so that these find one within the lease. It returns when ctx ends.
func (c *Cache) Run(ctx context.Context) {
	if c.lease <= 0 {
		return
	}
	tick := time.NewTicker(max(c.lease/aheadOf, time.Millisecond))
	defer tick.Stop()
	for {
		_ = c.rounds.join(ctx, c.barrier) // a request that finds no barrier makes its own, and gets its error
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// barrier reads how far the store has come and takes over the revisions that moved. One runs at a
// time, so that none knows less than the one before it.
func (c *Cache) barrier(ctx context.Context) error {
	if c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	began, freshness, err := c.ask(ctx)
	if err != nil {
		return err
	}
	if now := c.now(); freshness != now {
		err = c.apply(ctx, now, freshness)
	}
	if err == nil {
		c.read.Store(int64(began))
	}
	return err
}

// now returns how far the cache has come.
func (c *Cache) now() store.Freshness {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return store.Freshness{Generation: c.generation, Epoch: c.epoch}
}

// ask reads how far the store has come, and returns when that read began. It first declares
// the lease to the store, in each generation of the store: a read from before the declaration does not count.
func (c *Cache) ask(ctx context.Context) (began time.Duration, freshness store.Freshness, err error) {
	for {
		if c.lease > 0 {
			began = c.clock()
		}
		freshness, err = c.store.Freshness(ctx)
		if err != nil || c.lease <= 0 || freshness.Generation == c.declared {
			return began, freshness, err
		}
		if err := c.store.Lease(ctx, c.lease); err != nil {
			return 0, store.Freshness{}, err
		}
		c.declared = freshness.Generation
	}
}

// apply moves the cache from now to fresh. After an epoch went back, the store has lost changes: the cache forgets all
// it knows. Meanwhile requests within the lease are answered from the known revisions.
func (c *Cache) apply(ctx context.Context, now, freshness store.Freshness) error {
	anew := freshness.Generation != now.Generation || freshness.Epoch < now.Epoch
	after := now.Epoch
	if anew {
		after = 0 // lists all accounts
	}
	changed, complete, err := c.store.Changes(ctx, after, maxChanges)
	if err != nil && !anew {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case anew: // also without a list: an unknown revision is looked up
		c.forget()
	case !complete: // an account that is not on the list may have moved too
		clear(c.revisions)
	}
	for _, ch := range changed {
		c.learn(ch.AccountID, ch.Revision)
	}
	c.generation, c.epoch = freshness.Generation, freshness.Epoch
	return nil
}

// forget removes everything. c.mu is held.
func (c *Cache) forget() {
	clear(c.revisions)
	c.subjects.Clear()
	c.shared.Clear()
	c.unknown.Clear()
}

// learn takes over a revision; it never falls. Without room it evicts another account's, and the next use of that
// account looks it up again. c.mu is held.
func (c *Cache) learn(account string, revision int64) {
	before, ok := c.revisions[account]
	if !ok && len(c.revisions) >= maxAccounts {
		for evicted := range c.revisions { // any one: an order of use would cost each request a write
			delete(c.revisions, evicted)
			break
		}
	}
	c.revisions[account] = max(before, revision)
}

// revision returns the account's current revision, from memory or from the store.
func (c *Cache) revision(ctx context.Context, account string) (generation string, revision int64, err error) {
	c.mu.RLock()
	generation, epoch := c.generation, c.epoch
	revision, ok := c.revisions[account]
	c.mu.RUnlock()
	if ok {
		return generation, revision, nil
	}
	revision, err = c.lookUp(ctx, generation, epoch, account)
	return generation, revision, err
}

// lookUp reads the account's revision, once for all concurrent callers at the same epoch: a read begun at that epoch
// saw everything answered before any of their calls. The revision is stored only if nothing moved meanwhile: a late
// answer must not lower a newer revision. An unknown account's is not stored: nothing in it can be revoked, and a
// client can invent as many names as it likes.
func (c *Cache) lookUp(ctx context.Context, generation string, epoch int64, account string) (int64, error) {
	name := flightName{key: key{generation: generation, account: account, revision: lookUp}, epoch: epoch}
	return together(ctx, c, name, func(ctx context.Context) (revision int64, err error) {
		c.mu.RLock()
		revision, ok := c.revisions[account]
		ok = ok && c.generation == generation && c.epoch == epoch
		c.mu.RUnlock()
		if ok { // the flight before this one stored it
			return revision, nil
		}
		err = c.view(ctx, account, func(tx store.Tx) (err error) {
			revision, err = tx.Revision(ctx, account)
			return err
		})
		if err != nil {
			return 0, err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if revision > 0 && c.generation == generation && c.epoch == epoch {
			c.learn(account, revision)
		}
		return revision, nil
	})
}
