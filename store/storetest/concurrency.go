package storetest

import (
	"errors"
	"sync"
	"testing"

	"github.com/portcullis-authz/portcullis/store"
)

func concurrency() []testCase {
	return []testCase{
		{"no increment of 16 writers is lost", noLostUpdate},
		{"of two last admins one stays", lastAdminStays},
		{"a replace of what was read before loses to who came first", staleReplaceLoses},
		{"readers see both of a pair or none while writers go on", pairsAreWhole},
	}
}

// together makes n concurrent calls and waits for them.
func together(n int, fn func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			fn(i)
		})
	}
	close(start)
	wg.Wait()
}

func noLostUpdate(t *testing.T, e *env) {
	const writers, each = 16, 50
	e.put(t, thing{ID: "a"})
	before := e.freshness(t)
	together(writers, func(i int) {
		for range each {
			if err := e.Transact(e.ctx, e.increment); err != nil {
				t.Errorf("writer %d: %v", i, err)
				return
			}
		}
	})
	rec, err := e.get(t, "a")
	if err != nil || rec.Value.Count != writers*each || rec.Revision != writers*each+1 {
		t.Errorf("got %d at revision %d, %v; want %d", rec.Value.Count, rec.Revision, err, writers*each)
	}
	if moved := e.freshness(t).Epoch - before.Epoch; moved < each || moved > writers*each {
		t.Errorf("the epoch moved by %d", moved)
	}
}

func (e *env) increment(tx store.Tx) error {
	if _, err := tx.Bump(e.ctx, "x"); err != nil {
		return err
	}
	rec, err := e.things.Get(e.ctx, tx, "a")
	if err != nil {
		return err
	}
	rec.Value.Count++
	return e.things.Replace(e.ctx, tx, rec)
}

// lastAdminStays: each of two goroutines removes one admin if another is left. They write
// different records, so only the account's revision makes them conflict.
func lastAdminStays(t *testing.T, e *env) {
	const rounds = 200
	admins := [2]thing{{ID: "a", Account: "x", Name: "a"}, {ID: "b", Account: "x", Name: "b"}}
	all := rank(byRank, store.String("x"))
	e.put(t, admins[:]...)
	for round := range rounds {
		together(2, func(i int) {
			err := e.Transact(e.ctx, func(tx store.Tx) error {
				if _, err := tx.Bump(e.ctx, "x"); err != nil {
					return err
				}
				if n, err := e.things.Count(e.ctx, tx, all); err != nil || n < 2 {
					return err
				}
				rec, err := e.things.Get(e.ctx, tx, admins[i].ID)
				if err != nil {
					return err
				}
				return e.things.Delete(e.ctx, tx, rec)
			})
			if err != nil {
				t.Errorf("round %d: %v", round, err)
			}
		})
		rest := e.list(t, all)
		if len(rest) != 1 {
			t.Fatalf("round %d: %q are left", round, rest)
		}
		for _, a := range admins {
			if a.ID != rest[0] {
				e.put(t, a)
			}
		}
	}
}

func staleReplaceLoses(t *testing.T, e *env) {
	const writers = 8
	e.put(t, thing{ID: "a"})
	rec, _ := e.get(t, "a")
	results := make(chan error, writers)
	together(writers, func(i int) {
		record := rec
		record.Value.Count = i + 1
		results <- e.Transact(e.ctx, func(tx store.Tx) error { return e.things.Replace(e.ctx, tx, record) })
	})
	won := 0
	for range writers {
		switch err := <-results; {
		case err == nil:
			won++
		case !errors.Is(err, store.ErrRevision):
			t.Errorf("got %v", err)
		}
	}
	if got, _ := e.get(t, "a"); won != 1 || got.Revision != 2 {
		t.Errorf("%d won, revision %d", won, got.Revision)
	}
}

func pairsAreWhole(t *testing.T, e *env) {
	const changes = 60
	e.put(t, thing{ID: "a", Name: "a"}, thing{ID: "b", Name: "b"})
	done := make(chan struct{})
	together(4, func(i int) {
		if i > 0 {
			for open := true; open; {
				select {
				case <-done:
					open = false
				default:
				}
				e.seePair(t)
			}
			return
		}
		defer close(done)
		for range changes {
			if err := e.Transact(e.ctx, e.incrementPair); err != nil {
				t.Errorf("writer: %v", err)
			}
		}
	})
}

func (e *env) incrementPair(tx store.Tx) error {
	for _, id := range []string{"a", "b"} {
		rec, err := e.things.Get(e.ctx, tx, id)
		if err != nil {
			return err
		}
		rec.Value.Count++
		if err := e.things.Replace(e.ctx, tx, rec); err != nil {
			return err
		}
	}
	return nil
}

func (e *env) seePair(t *testing.T) {
	err := e.View(e.ctx, func(tx store.Tx) error {
		a, err := e.things.Get(e.ctx, tx, "a")
		if err != nil {
			return err
		}
		b, err := e.things.Get(e.ctx, tx, "b")
		if a.Value.Count != b.Value.Count {
			t.Errorf("a is %d, b is %d", a.Value.Count, b.Value.Count)
		}
		return err
	})
	if err != nil {
		t.Errorf("View: %v", err)
	}
}
