package sqlite

import (
	"context"
	"database/sql/driver"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/portcullis-authz/portcullis/store"
)

// Store is the embedded engine; Open makes it. It is safe for concurrent use.
type Store struct {
	tables     map[string]*table
	path       string
	write      *pool
	read       *pool
	lock       *os.File
	generation string
	condition  condition
	contents   contents
	// epoch is that of the last committed transaction. The holder of the writing session moves it,
	// after the commit and before Transact returns.
	epoch  atomic.Int64
	closed sync.Once
}

var _ store.Store = (*Store)(nil)

// View implements store.Store. In SQLite a snapshot lives as long as a statement that reads. View holds
// one while fn runs, which fixes the snapshot before fn reads and costs less than a transaction. No read
// waits, so the end of the context need not interrupt one.
func (s *Store) View(ctx context.Context, fn func(store.Tx) error) error {
	return s.reading(ctx, func(ses *session) error {
		held, err := ses.hold(pingText)
		if err != nil {
			return translate(ctx, err)
		}
		t := &tx{ctx: ctx, ses: ses, tables: s.tables, met: s.met}
		defer func() {
			t.ended = true
			ses.release(held)
		}()
		if err := fn(t); err != nil {
			return err
		}
		return t.failed
	})
}

// Transact implements store.Store.
func (s *Store) Transact(ctx context.Context, fn func(store.Tx) error) error {
	return s.writing(ctx, func(ses *session) error {
		t := &tx{ctx: ctx, ses: ses, tables: s.tables, met: s.met, writable: true}
		defer t.end() // also after a failed BEGIN: it may have begun the transaction, if the context ended at that instant
		if _, err := ses.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
			return translate(ctx, err)
		}
		if err := fn(t); err != nil {
			if t.failed != nil {
				s.settled(t.failed)
			}
			return err
		}
		if !t.wrote {
			return t.ready(ctx)
		}
		seq, epoch, err := t.seal()
		if err == nil {
			t.ended = true
			err = commit(ctx, ses, seq)
		}
		s.settled(err)
		if err != nil {
			return err
		}
		s.epoch.Store(epoch)
		s.contents.last.seq = seq
		return s.kept(ses)
	})
}

// Freshness implements store.Store; it costs no query.
func (s *Store) Freshness(ctx context.Context) (store.Freshness, error) {
	if err := ctx.Err(); err != nil {
		return store.Freshness{}, unavailable(err)
	}
	select {
	case <-s.write.closed:
		return store.Freshness{}, errClosed
	default:
		return store.Freshness{Generation: s.generation, Epoch: s.epoch.Load()}, nil
	}
}

// Lease implements store.Store.
func (s *Store) Lease(context.Context, time.Duration) error { return store.ErrNoLease }

// Changes implements store.Store.
func (s *Store) Changes(ctx context.Context, after int64, limit int) (changed []store.AccountRevision, complete bool, err error) {
	limit = max(limit, 0)
	err = s.reading(ctx, func(ses *session) error {
		return translate(ctx, ses.each(ctx, changesText, []any{after, limit + 1}, func(row []driver.Value) error {
			var a store.AccountRevision
			if err := scan(row, []any{&a.AccountID, &a.Revision}); err != nil {
				return err
			}
			changed = append(changed, a)
			return nil
		}))
	})
	if err != nil {
		return nil, false, err
	}
	if len(changed) > limit {
		return changed[:limit], false, nil
	}
	return changed, true, nil
}

// Close implements store.Store. It waits for the transactions under way, moves the log into the file
// and unlocks the data folder.
func (s *Store) Close() error {
	var err error
	s.closed.Do(func() { err = s.shut() })
	return err
}
