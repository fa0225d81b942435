package rolecache

import (
	"context"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// lookUp stands for the revision where that is what is looked for: no account has it.
const lookUp = -1

// aheadOf is how many times in a lease Run reads.
const aheadOf = 4

// catchUp takes over every revision that moved before the call. The read of how far
// the store has come begins after the request arrived; that order is the guarantee.
//
// With a lease, a read that began within it will do: whoever answered a change since has
// waited until no such read is used any more.
func (c *Cache) catchUp(ctx context.Context) error {
	if !resources.IsStrict(ctx) && c.withinLease() || c.caughtUp(ctx) {
		return nil
	}
	return c.rounds.join(ctx, c.barrier)
}

// withinLease says whether the newest read may be used.
func (c *Cache) withinLease() bool {
	if c.lease <= 0 {
		return false
	}
	read := c.read.Load()
	if read == 0 {
		return false
	}
	// A clock that went back, against its promise, says nothing of how long ago that was.
	ago := c.clock() - time.Duration(read)
	return ago >= 0 && ago <= c.lease
}

// caughtUp asks a store in this process, where that costs nothing.
func (c *Cache) caughtUp(ctx context.Context) bool {
	if !c.local {
		return false
	}
	// Asked before it is compared: the cache may only have come further since.
	fresh, err := c.store.Freshness(ctx)
	return err == nil && fresh == c.now()
}

// Run reads ahead, so that requests find a read within the lease; it ends with ctx.
func (c *Cache) Run(ctx context.Context) {
	if c.lease <= 0 {
		return
	}
	tick := time.NewTicker(max(c.lease/aheadOf, time.Millisecond))
	defer tick.Stop()
	for {
		_ = c.rounds.join(ctx, c.barrier) // a request that needs it is told by its own read
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// barrier is one read of how far the store has come, and what follows from it. One runs
// at a time, so that none comes to know less than the one before.
func (c *Cache) barrier(ctx context.Context) error {
	if c.within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.within)
		defer cancel()
	}
	began, fresh, err := c.ask(ctx)
	if err != nil {
		return err
	}
	if now := c.now(); fresh != now {
		err = c.apply(ctx, now, fresh)
	}
	if err == nil {
		c.read.Store(int64(began))
	}
	return err
}

// now is how far the cache has come.
func (c *Cache) now() store.Freshness {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return store.Freshness{Generation: c.generation, Epoch: c.epoch}
}

// ask reads how far the store has come, and says when that began. A store that does not
// know of the lease yet is told first: a read of before does not count.
func (c *Cache) ask(ctx context.Context) (began time.Duration, fresh store.Freshness, err error) {
	for {
		if c.lease > 0 {
			began = c.clock()
		}
		fresh, err = c.store.Freshness(ctx)
		if err != nil || c.lease <= 0 || fresh.Generation == c.declared {
			return began, fresh, err
		}
		if err := c.store.Lease(ctx, c.lease); err != nil {
			return 0, store.Freshness{}, err
		}
		c.declared = fresh.Generation
	}
}

// apply moves the cache from where it is to a freshness that was read. An epoch that went
// back is a store that lost what it had: nothing that is known of it counts any more.
// Meanwhile requests that need no read of their own go on with what is known.
func (c *Cache) apply(ctx context.Context, now, fresh store.Freshness) error {
	anew := fresh.Generation != now.Generation || fresh.Epoch < now.Epoch
	after := now.Epoch
	if anew {
		after = 0 // the list of changes is that of all accounts
	}
	changed, complete, err := c.store.Changes(ctx, after, maxChanges)
	if err != nil && !anew {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case anew: // without a list, each account is looked up when it is asked for
		c.forget()
	case !complete: // what is not on the list may have moved too
		clear(c.revisions)
	}
	for _, ch := range changed {
		c.learn(ch.AccountID, ch.Revision)
	}
	c.generation, c.epoch = fresh.Generation, fresh.Epoch
	return nil
}

// forget drops everything that is known; c.mu is held.
func (c *Cache) forget() {
	clear(c.revisions)
	c.subjects.Clear()
	c.shared.Clear()
	c.unknown.Clear()
}

// learn takes a revision over, which never falls; c.mu is held. One that is evicted is looked up
// again when it is asked for.
func (c *Cache) learn(account string, revision int64) {
	before, known := c.revisions[account]
	if !known && len(c.revisions) >= maxAccounts {
		for evicted := range c.revisions { // any one: an order of use would cost each question a lock
			delete(c.revisions, evicted)
			break
		}
	}
	c.revisions[account] = max(before, revision)
}

// revision gives the account's current revision, from memory or from the store.
func (c *Cache) revision(ctx context.Context, account string) (generation string, revision int64, err error) {
	c.mu.RLock()
	generation, epoch := c.generation, c.epoch
	revision, known := c.revisions[account]
	c.mu.RUnlock()
	if known {
		return generation, revision, nil
	}
	revision, err = c.lookUp(ctx, generation, epoch, account)
	return generation, revision, err
}

// lookUp reads the account's revision once for all who ask at once. They may share it
// since they have caught up with the same epoch, at which it began: it saw everything
// that was answered before any of them came. What was read is remembered only when
// nothing moved meanwhile: a late answer must not lower a revision that was taken
// over since. An account that does not exist has none to remember: there is nothing in it to
// revoke, and its name is as the caller likes.
func (c *Cache) lookUp(ctx context.Context, generation string, epoch int64, account string) (int64, error) {
	name := flightName{key: key{generation: generation, account: account, revision: lookUp}, epoch: epoch}
	return together(ctx, c, name, func(ctx context.Context) (revision int64, err error) {
		c.mu.RLock()
		revision, known := c.revisions[account]
		known = known && c.generation == generation && c.epoch == epoch
		c.mu.RUnlock()
		if known { // the flight before this one brought it
			return revision, nil
		}
		err = c.view(ctx, func(tx store.Tx) (err error) {
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
