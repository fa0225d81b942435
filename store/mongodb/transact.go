package mongodb

import (
	"context"
	"math/rand/v2"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/portcullis-authz/portcullis/store"
)

const (
	// conflictTime is how long a transaction that loses its conflicts is tried again.
	conflictTime = 5 * time.Second
	// commitTime is how long the outcome of a commit is asked for.
	commitTime = 5 * time.Second
	// abortTime bounds undoing; what is left the server undoes by itself.
	abortTime = 2 * time.Second
	// leaseRest is what is waited beyond a lease.
	leaseRest = 50 * time.Millisecond
	// firstPause and longestPause bound the pause before another try.
	firstPause   = 2 * time.Millisecond
	longestPause = 100 * time.Millisecond
)

// View implements store.Store. The snapshot of a transaction is that of its first read:
// so one is made before fn runs.
func (s *Store) View(ctx context.Context, fn func(store.Tx) error) error {
	return s.run(ctx, false, func(t *tx) error {
		if err := t.see(ctx); err != nil {
			return err
		}
		return fn(t)
	})
}

// Transact implements store.Store.
func (s *Store) Transact(ctx context.Context, fn func(store.Tx) error) error {
	return s.run(ctx, true, func(t *tx) error { return fn(t) })
}

// run tries until a try ends without a conflict.
func (s *Store) run(ctx context.Context, writable bool, fn func(*tx) error) error {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	started, pause := time.Now(), firstPause
	for {
		again, err := s.try(ctx, writable, fn)
		if !again {
			return err
		}
		if time.Since(started) > conflictTime {
			return errBusy
		}
		select {
		case <-ctx.Done():
			return unavailable(ctx.Err())
		case <-time.After(rand.N(pause)): //nolint:gosec // a pause is no secret
		}
		pause = min(2*pause, longestPause)
	}
}

// try runs fn once and commits; again says that a conflict undid it.
func (s *Store) try(ctx context.Context, writable bool, fn func(*tx) error) (again bool, err error) {
	ses, err := s.session(true)
	if err != nil {
		return false, translate(ctx, err)
	}
	defer s.end(ses)
	err = ses.StartTransaction(options.Transaction().SetReadConcern(readconcern.Snapshot()).
		SetWriteConcern(durable()).SetReadPreference(readpref.Primary()))
	if err != nil {
		return false, translate(ctx, err)
	}
	t := &tx{ctx: ctx, s: s, ses: ses, writable: writable}
	defer t.end()
	err = fn(t)
	switch {
	case t.conflict:
		return true, nil
	case err != nil:
		return false, err
	}
	if err := t.seal(); err != nil {
		return t.conflict, err
	}
	if err := t.ready(ctx); err != nil {
		return t.conflict, err
	}
	t.over = true
	if again, err = commit(ctx, ses); err == nil && !again {
		t.release()
		outwait(t.lease)
	}
	return again, err
}

// outwait waits until no process answers any more from a freshness of before the commit:
// the lease, 1 % for clocks that run apart, and a rest. No context ends it: who is told of a
// change must be able to rely on it.
func outwait(lease time.Duration) {
	if lease > 0 {
		time.Sleep(lease + lease/100 + leaseRest)
	}
}

// commit makes the transaction durable. The caller's context does not interrupt it: an
// interrupted commit would leave open whether it happened. Asking again is safe.
func commit(ctx context.Context, ses *mongo.Session) (again bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTime)
	defer cancel()
	for unknown := false; ; {
		err := ses.CommitTransaction(ctx)
		switch {
		case err == nil:
			return false, nil
		case hasLabel(err, labelTransient): // it did not happen
			return true, nil
		case hasLabel(err, labelUnknownCommit), mongo.IsNetworkError(err), mongo.IsTimeout(err):
			unknown = true
		case !unknown:
			return false, translate(ctx, err)
		}
		select {
		case <-ctx.Done():
			return false, store.ErrOutcomeUnknown
		case <-time.After(firstPause):
		}
	}
}
