package mongodb

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/portcullis-authz/portcullis/store"
)

const (
	// conflictTime bounds the retries of a transaction that loses its conflicts.
	conflictTime = 5 * time.Second
	// patience is for how long of that it writes the epoch last.
	patience = 200 * time.Millisecond
	// firstPause and longestPause bound the pause before a retry.
	firstPause   = 2 * time.Millisecond
	longestPause = 100 * time.Millisecond
)

// View implements store.Store. A transaction's snapshot is that of its first read, so View makes one
// before fn runs.
func (s *Store) View(ctx context.Context, fn func(store.Tx) error) error {
	return s.run(ctx, func(bool) (again bool, err error) {
		t := &tx{ctx: ctx, s: s}
		return s.try(t, func(view store.Tx) error {
			if err := t.see(ctx); err != nil {
				return err
			}
			return fn(view)
		})
	})
}

// Transact implements store.Store. A change that finds the slot taken by another one of this process
// waits in the queue, and shares a transaction with others there.
func (s *Store) Transact(ctx context.Context, fn func(store.Tx) error) error {
	m, bumps := newMember(ctx, fn), false
	return s.run(ctx, func(first bool) (again bool, err error) {
		t := s.change(ctx, first && bumps)
		again, err = s.try(t, fn)
		bumps = bumps || t.holds || errors.Is(err, errQueued)
		if !errors.Is(err, errQueued) {
			return again, err
		}
		if alone, err := s.share(m); !alone {
			return false, err
		}
		t = s.change(ctx, first)
		t.holds = true
		return s.try(t, fn)
	})
}

// change is a transaction that may write.
func (s *Store) change(ctx context.Context, first bool) *tx {
	return &tx{ctx: ctx, s: s, first: first, writable: true, bumped: map[string]int64{}}
}

// run runs a transaction, with its retries, as a call of the store.
func (s *Store) run(ctx context.Context, try func(first bool) (again bool, err error)) error {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return s.retry(ctx, try)
}

// retry calls try until it ends without a conflict. first tells try to write the epoch first.
func (s *Store) retry(ctx context.Context, try func(first bool) (again bool, err error)) error {
	started, pause := time.Now(), firstPause
	for {
		again, err := try(time.Since(started) > patience)
		if !again {
			return err
		}
		if time.Since(started) > conflictTime {
			return errBusy
		}
		if time.Since(started) > suspectTime {
			s.endAbandoned(ctx)
		}
		select {
		case <-ctx.Done():
			return unavailable(ctx.Err())
		case <-time.After(rand.N(pause)): //nolint:gosec // a pause is not secret
		}
		pause = min(2*pause, longestPause)
	}
}

// try runs fn once and commits. again is true if a conflict undid it.
func (s *Store) try(t *tx, fn func(store.Tx) error) (again bool, err error) {
	if again, err = s.atOnce(t, fn); err == nil && !again {
		outwait(t.lease)
	}
	return again, err
}

// atOnce is try without the wait for the lease: when it returns, the next change may begin.
func (s *Store) atOnce(t *tx, fn func(store.Tx) error) (again bool, err error) {
	defer t.end()
	if err := t.begin(); err != nil {
		return false, err
	}
	if t.first {
		if err := t.hold(); err != nil {
			return false, err
		}
		if err := t.move(); err != nil {
			return t.conflict, err
		}
	}
	err = fn(t)
	switch {
	case t.conflict:
		return true, nil
	case errors.Is(t.failed, errQueued):
		return false, errQueued
	case err != nil:
		return false, err
	}
	return t.commit()
}
