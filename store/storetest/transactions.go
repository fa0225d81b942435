package storetest

import (
	"errors"
	"testing"

	"github.com/portcullis-authz/portcullis/store"
)

func transactions() []testCase {
	return []testCase{
		{"an error undoes every write, and is returned as it is", errorUndoes},
		{"a panic undoes every write, and goes on", panicUndoes},
		{"a transaction over two collections happens as a whole", twoCollections},
		{"a transaction reads its own writes", readsOwnWrites},
		{"nobody sees a write before its commit", unseenBeforeCommit},
		{"a transaction that only reads succeeds", readingIsFine},
		{"a transaction can't be used when it is over", overIsOver},
		{"the store can be used after a failed transaction", usableAfterFailure},
	}
}

var errCase = errors.New("the case's own error")

func errorUndoes(t *testing.T, e *env) {
	e.put(t, thing{ID: "a", Name: "a"}, thing{ID: "b", Name: "b"})
	a, _ := e.get(t, "a")
	b, _ := e.get(t, "b")
	before := e.freshness(t)
	err := e.Transact(e.ctx, func(tx store.Tx) error {
		_, bumped := tx.Bump(e.ctx, "x")
		a.Value.Count = 1
		return errors.Join(bumped, e.things.Replace(e.ctx, tx, a), e.things.Delete(e.ctx, tx, b),
			e.things.Insert(e.ctx, tx, thing{ID: "c", Name: "c"}))
	})
	if err != nil {
		t.Fatal(err)
	}
	after := e.freshness(t)
	if after.Epoch != before.Epoch+1 {
		t.Errorf("epoch %d, want %d", after.Epoch, before.Epoch+1)
	}
	a, _ = e.get(t, "a")
	err = e.Transact(e.ctx, func(tx store.Tx) error {
		_, bumped := tx.Bump(e.ctx, "x")
		a.Value.Count = 2
		if err := errors.Join(bumped, e.things.Replace(e.ctx, tx, a), e.things.Insert(e.ctx, tx, thing{ID: "d", Name: "d"})); err != nil {
			return err
		}
		return errCase
	})
	if err != errCase { //nolint:errorlint // as it is, not wrapped
		t.Errorf("got %v", err)
	}
	if got, _ := e.get(t, "a"); got.Value.Count != 1 || got.Revision != 2 {
		t.Errorf("a: %+v", got)
	}
	_, err = e.get(t, "d")
	wantIs(t, "d", err, store.ErrNotFound)
	if got := e.freshness(t); got != after {
		t.Errorf("freshness %+v, want %+v", got, after)
	}
}

func panicUndoes(t *testing.T, e *env) {
	func() {
		defer func() {
			if err, ok := recover().(error); !ok || !errors.Is(err, errCase) {
				t.Errorf("recovered %v", err)
			}
		}()
		_ = e.Transact(e.ctx, func(tx store.Tx) error {
			if err := e.things.Insert(e.ctx, tx, thing{ID: "a"}); err != nil {
				return err
			}
			panic(errCase)
		})
	}()
	_, err := e.get(t, "a")
	wantIs(t, "Get", err, store.ErrNotFound)
	e.put(t, thing{ID: "a"})
}

func twoCollections(t *testing.T, e *env) {
	both := func(id string, fail error) error {
		return e.Transact(e.ctx, func(tx store.Tx) error {
			if err := e.things.Insert(e.ctx, tx, thing{ID: id, Name: id}); err != nil {
				return err
			}
			if err := e.links.Insert(e.ctx, tx, link{From: id, To: "t"}); err != nil {
				return err
			}
			return fail
		})
	}
	wantIs(t, "a", both("a", nil), nil)
	wantIs(t, "b", both("b", errCase), errCase)
	e.see(t, func(tx store.Tx) error {
		links, err := e.links.Find(e.ctx, tx, store.Query{Index: byTarget, Equal: []store.Value{store.String("t")}})
		if err != nil || len(links) != 1 || links[0].Value.From != "a" {
			t.Errorf("links: %+v, %v", links, err)
		}
		return nil
	})
	wantIDs(t, e.list(t, store.Query{Index: byRank}), "a")
}

func readsOwnWrites(t *testing.T, e *env) {
	e.do(t, func(tx store.Tx) error {
		if err := e.things.Insert(e.ctx, tx, thing{ID: "a", Count: 1}); err != nil {
			return err
		}
		for want := int64(1); want <= 3; want++ {
			rec, err := e.things.Get(e.ctx, tx, "a")
			if err != nil || rec.Revision != want || rec.Value.Count != int(want) {
				t.Errorf("got %+v, %v; want revision %d", rec, err, want)
			}
			rec.Value.Count++
			if err := e.things.Replace(e.ctx, tx, rec); err != nil {
				return err
			}
		}
		return nil
	})
}

func unseenBeforeCommit(t *testing.T, e *env) {
	e.do(t, func(tx store.Tx) error {
		if err := e.things.Insert(e.ctx, tx, thing{ID: "a"}); err != nil {
			return err
		}
		_, err := e.get(t, "a")
		wantIs(t, "another's Get", err, store.ErrNotFound)
		return nil
	})
	if _, err := e.get(t, "a"); err != nil {
		t.Error(err)
	}
}

func readingIsFine(t *testing.T, e *env) {
	before := e.freshness(t)
	e.do(t, func(tx store.Tx) error {
		_, err := tx.Revision(e.ctx, "x")
		return err
	})
	if after := e.freshness(t); after != before {
		t.Errorf("freshness %+v, want %+v", after, before)
	}
}

func overIsOver(t *testing.T, e *env) {
	var kept []store.Tx
	keep := func(tx store.Tx) error {
		kept = append(kept, tx)
		return nil
	}
	e.do(t, keep)
	e.see(t, keep)
	wantIs(t, "Transact", e.Transact(e.ctx, func(tx store.Tx) error { return errors.Join(keep(tx), errCase) }), errCase)
	for i, tx := range kept {
		_, err := e.things.Get(e.ctx, tx, "a")
		if err == nil || errors.Is(err, store.ErrNotFound) {
			t.Errorf("transaction %d: Get gave %v", i, err)
		}
		if err := e.things.Insert(e.ctx, tx, thing{ID: "a"}); err == nil {
			t.Errorf("transaction %d: Insert went through", i)
		}
		if _, err := tx.Bump(e.ctx, "x"); err == nil {
			t.Errorf("transaction %d: Bump went through", i)
		}
	}
	_, err := e.get(t, "a")
	wantIs(t, "Get", err, store.ErrNotFound)
}

func usableAfterFailure(t *testing.T, e *env) {
	for range 20 {
		_ = e.Transact(e.ctx, func(store.Tx) error { return errCase })
		_ = e.View(e.ctx, func(store.Tx) error { return errCase })
	}
	e.put(t, thing{ID: "a"})
	wantIs(t, "Ping", e.Ping(e.ctx), nil)
	wantIs(t, "Check", e.Check(e.ctx), nil)
}
