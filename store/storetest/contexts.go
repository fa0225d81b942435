package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/store"
)

func contexts() []testCase {
	return []testCase{
		{"a context that is over gives ErrUnavailable everywhere", overContextIsRefused},
		{"a transaction cancelled before its commit wrote nothing", cancelledBeforeCommit},
		{"a transaction cancelled between its writes wrote nothing", cancelledBetweenWrites},
		{"a transaction whose deadline passes wrote nothing", deadlinePasses},
		{"a writer that waits gives up at its deadline", waitingWriterGivesUp},
		{"a closed store is unavailable, and can be closed again", closedIsUnavailable},
	}
}

func overContextIsRefused(t *testing.T, e *env) {
	ctx, cancel := context.WithCancel(e.ctx)
	cancel()
	ran := func(store.Tx) error {
		t.Error("the function ran")
		return nil
	}
	_, freshErr := e.Freshness(ctx)
	_, _, changed := e.Changes(ctx, 0, 1)
	for title, err := range map[string]error{
		"View": e.View(ctx, ran), "Transact": e.Transact(ctx, ran), "Freshness": freshErr, "Changes": changed,
		"Ping": e.Ping(ctx), "Check": e.Check(ctx),
	} {
		wantIs(t, title, err, store.ErrUnavailable)
		wantIs(t, title, err, context.Canceled)
	}
}

// wantNothing fails unless the record is absent, no revision has moved, and the store works.
func (e *env) wantNothing(t *testing.T, id string, before store.Freshness) {
	t.Helper()
	_, err := e.get(t, id)
	wantIs(t, "Get", err, store.ErrNotFound)
	if after := e.freshness(t); after != before {
		t.Errorf("freshness %+v, want %+v", after, before)
	}
	e.put(t, thing{ID: id, Name: id})
}

func cancelledBeforeCommit(t *testing.T, e *env) {
	before := e.freshness(t)
	ctx, cancel := context.WithCancel(e.ctx)
	err := e.Transact(ctx, func(tx store.Tx) error {
		defer cancel()
		if _, err := tx.Bump(ctx, "x"); err != nil {
			return err
		}
		return e.things.Insert(ctx, tx, thing{ID: "a"})
	})
	wantIs(t, "Transact", err, store.ErrUnavailable)
	wantIs(t, "Transact", err, context.Canceled)
	e.wantNothing(t, "a", before)
}

func cancelledBetweenWrites(t *testing.T, e *env) {
	before := e.freshness(t)
	ctx, cancel := context.WithCancel(e.ctx)
	err := e.Transact(ctx, func(tx store.Tx) error {
		if _, err := tx.Bump(ctx, "x"); err != nil {
			return err
		}
		cancel()
		wantIs(t, "Insert", e.things.Insert(ctx, tx, thing{ID: "a"}), store.ErrUnavailable)
		// fn ignores the error: the transaction must not commit the rest.
		_ = e.things.Insert(e.ctx, tx, thing{ID: "b", Name: "b"})
		return nil
	})
	wantIs(t, "Transact", err, store.ErrUnavailable)
	e.wantNothing(t, "b", before)
}

func deadlinePasses(t *testing.T, e *env) {
	before := e.freshness(t)
	ctx, cancel := context.WithTimeout(e.ctx, 30*time.Millisecond)
	defer cancel()
	err := e.Transact(ctx, func(tx store.Tx) error {
		if err := e.things.Insert(e.ctx, tx, thing{ID: "a"}); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	})
	wantIs(t, "Transact", err, store.ErrUnavailable)
	wantIs(t, "Transact", err, context.DeadlineExceeded)
	e.wantNothing(t, "a", before)
}

// waitingWriterGivesUp: two transactions write the same record; the first one holds it until the
// deadline of the second has passed.
func waitingWriterGivesUp(t *testing.T, e *env) {
	e.put(t, thing{ID: "a"})
	e.do(t, func(tx store.Tx) error {
		if err := e.increment(tx); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(e.ctx, 50*time.Millisecond)
		defer cancel()
		err := e.Transact(ctx, func(tx store.Tx) error {
			if _, err := tx.Bump(ctx, "x"); err != nil {
				return err
			}
			rec, err := e.things.Get(ctx, tx, "a")
			if err != nil {
				return err
			}
			rec.Value.Count = 99
			return e.things.Replace(ctx, tx, rec)
		})
		wantIs(t, "the second", err, store.ErrUnavailable)
		return nil
	})
	if rec, _ := e.get(t, "a"); rec.Value.Count != 1 {
		t.Errorf("got %+v", rec)
	}
	e.do(t, e.increment)
}

func closedIsUnavailable(t *testing.T, e *env) {
	wantIs(t, "Close", e.Close(), nil)
	wantIs(t, "Close again", e.Close(), nil)
	nothing := func(store.Tx) error { return nil }
	_, freshErr := e.Freshness(e.ctx)
	_, _, changed := e.Changes(e.ctx, 0, 1)
	for title, err := range map[string]error{
		"View": e.View(e.ctx, nothing), "Transact": e.Transact(e.ctx, nothing), "Freshness": freshErr, "Changes": changed,
		"Ping": e.Ping(e.ctx), "Check": e.Check(e.ctx),
	} {
		wantIs(t, title, err, store.ErrUnavailable)
	}
}
