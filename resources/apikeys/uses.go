package apikeys

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

const (
	// writeEvery is how often uses are written. It leaves 5 s for the write, since a list
	// must show a use within a minute (API contract, E14).
	writeEvery = 55 * time.Second
	// maxNoted bounds the keys with a noted use. The uses of further keys are dropped.
	maxNoted = 20_000
	// batch bounds the uses that one transaction writes.
	batch = 500
	// flushTimeout bounds a flush.
	flushTimeout = 5 * time.Second
)

// UsesConfig holds what Uses works with. Every field is required.
type UsesConfig struct {
	Store       store.Store
	Collections records.Collections
	Log         *slog.Logger
}

// Uses holds when each key was last used, until it is written to the store. It is safe for
// concurrent use.
type Uses struct {
	cfg UsesConfig

	mu    sync.Mutex
	noted map[string]resources.Time
	// failed is the last key of the last unwritten part. The next flush begins there, so no key waits for ever behind
	// others.
	failed string
}

// NewUses makes a Uses. Run writes its uses.
func NewUses(cfg UsesConfig) *Uses { return &Uses{cfg: cfg, noted: map[string]resources.Time{}} }

// Note records a use of the key at that time. It does not block.
func (u *Uses) Note(keyID string, moment resources.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	last, ok := u.noted[keyID]
	if ok || len(u.noted) < maxNoted {
		u.noted[keyID] = max(last, moment)
	}
}

// Run writes the noted uses at intervals until ctx ends, and once more then. End it after the last
// request, and wait for it before you close the store.
func (u *Uses) Run(ctx context.Context) {
	tick := time.NewTicker(writeEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			u.flush(ctx)
		case <-ctx.Done():
			u.flush(context.WithoutCancel(ctx))
			return
		}
	}
}

// flush runs Flush with a deadline and logs its error.
func (u *Uses) flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	if err := u.Flush(ctx); err != nil {
		u.cfg.Log.Warn("the last use of API keys could not be written; it will be tried again", "error", err.Error())
	}
}

// Flush writes the noted uses. A use that could not be written stays noted.
func (u *Uses) Flush(ctx context.Context) error {
	u.mu.Lock()
	all := make([]records.KeyUse, 0, len(u.noted))
	for id, moment := range u.noted {
		all = append(all, records.KeyUse{KeyID: id, LastUsedAt: moment})
	}
	failed := u.failed
	u.mu.Unlock()
	// All replicas write a part in one order, so they can't wait for each other in a circle.
	slices.SortFunc(all, func(a, b records.KeyUse) int { return strings.Compare(a.KeyID, b.KeyID) })
	begin, _ := slices.BinarySearchFunc(all, failed, func(use records.KeyUse, id string) int { return strings.Compare(use.KeyID, id) })
	for _, some := range [][]records.KeyUse{all[begin:], all[:begin]} {
		for part := range slices.Chunk(some, batch) {
			if err := u.write(ctx, part); err != nil {
				u.mu.Lock()
				u.failed = part[len(part)-1].KeyID
				u.mu.Unlock()
				return err
			}
			u.forget(part)
		}
	}
	return nil
}

// write stores the uses in one transaction, without a bump.
func (u *Uses) write(ctx context.Context, part []records.KeyUse) error {
	return u.cfg.Store.Transact(ctx, func(tx store.Tx) error {
		for _, use := range part {
			if err := u.put(ctx, tx, use); err != nil {
				return err
			}
		}
		return nil
	})
}

// put stores one use, unless the store has a later one or the key does not exist any more.
func (u *Uses) put(ctx context.Context, tx store.Tx, use records.KeyUse) error {
	c := u.cfg.Collections
	last, err := store.Lookup(c.KeyUses.Get(ctx, tx, use.KeyID))
	if err != nil {
		return err
	}
	if last == nil {
		key, err := store.Lookup(c.APIKeys.Get(ctx, tx, use.KeyID))
		if err != nil || key == nil {
			return err
		}
		return c.KeyUses.Insert(ctx, tx, use)
	}
	if last.Value.LastUsedAt >= use.LastUsedAt {
		return nil
	}
	last.Value.LastUsedAt = use.LastUsedAt
	return c.KeyUses.Replace(ctx, tx, *last)
}

// forget drops the written uses, except those of keys that were used again meanwhile.
func (u *Uses) forget(part []records.KeyUse) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, use := range part {
		if u.noted[use.KeyID] == use.LastUsedAt {
			delete(u.noted, use.KeyID)
		}
	}
}
