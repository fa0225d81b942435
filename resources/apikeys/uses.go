package apikeys

import (
	"context"
	"errors"
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
	// DefaultEvery is how often uses are written. With the write itself, a last use is
	// shown within a minute (API contract, E14).
	DefaultEvery = 55 * time.Second
	// maxNoted bounds the keys whose use is remembered between two flushes; the use of one
	// more is forgotten.
	maxNoted = 20_000
	// batch is how many uses one transaction writes.
	batch = 500
	// flushTimeout bounds a flush.
	flushTimeout = 5 * time.Second
)

// UsesConfig is what Uses works with; Store, Collections and Log are needed.
type UsesConfig struct {
	Store       store.Store
	Collections records.Collections
	Log         *slog.Logger
	// Every is how often uses are written; 0 is DefaultEvery.
	Every time.Duration
}

// Uses remembers when each key was last used, and writes it down now and then. It is
// safe for concurrent use.
type Uses struct {
	cfg UsesConfig

	mu    sync.Mutex
	noted map[string]resources.Time
}

// NewUses makes an empty one; Run writes.
func NewUses(cfg UsesConfig) *Uses {
	if cfg.Every <= 0 {
		cfg.Every = DefaultEvery
	}
	return &Uses{cfg: cfg, noted: map[string]resources.Time{}}
}

// Note remembers that the key was used then. It does not wait for anything.
func (u *Uses) Note(keyID string, at resources.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	last, known := u.noted[keyID]
	if known || len(u.noted) < maxNoted {
		u.noted[keyID] = max(last, at)
	}
}

// Run writes the noted uses now and then until ctx ends, and once more then: it is to be
// ended after the last request, and waited for before the store is closed.
func (u *Uses) Run(ctx context.Context) {
	tick := time.NewTicker(u.cfg.Every)
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

func (u *Uses) flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	if err := u.Flush(ctx); err != nil {
		u.cfg.Log.Warn("the last use of API keys could not be written; it will be tried again", "error", err.Error())
	}
}

// Flush writes what was noted. What could not be written stays noted.
func (u *Uses) Flush(ctx context.Context) error {
	u.mu.Lock()
	all := make([]records.KeyUse, 0, len(u.noted))
	for id, at := range u.noted {
		all = append(all, records.KeyUse{KeyID: id, LastUsedAt: at})
	}
	u.mu.Unlock()
	// One order for all replicas, so that no two wait for each other.
	slices.SortFunc(all, func(a, b records.KeyUse) int { return strings.Compare(a.KeyID, b.KeyID) })
	for part := range slices.Chunk(all, batch) {
		if err := u.write(ctx, part); err != nil {
			return err
		}
		u.forget(part)
	}
	return nil
}

// write stores the uses in one transaction; no decision rests on them, so no revision moves.
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

// put stores one use, unless a later one is there or the key is gone.
func (u *Uses) put(ctx context.Context, tx store.Tx, use records.KeyUse) error {
	c := u.cfg.Collections
	rec, err := c.KeyUses.Get(ctx, tx, use.KeyID)
	if errors.Is(err, store.ErrNotFound) {
		_, err := c.APIKeys.Get(ctx, tx, use.KeyID)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return c.KeyUses.Insert(ctx, tx, use)
	}
	if err != nil || rec.Value.LastUsedAt >= use.LastUsedAt {
		return err
	}
	rec.Value.LastUsedAt = use.LastUsedAt
	return c.KeyUses.Replace(ctx, tx, rec)
}

// forget drops what was written, but for a key that was used again meanwhile.
func (u *Uses) forget(part []records.KeyUse) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, use := range part {
		if u.noted[use.KeyID] == use.LastUsedAt {
			delete(u.noted, use.KeyID)
		}
	}
}
