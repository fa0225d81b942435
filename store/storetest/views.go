package storetest

import (
	"context"
	"testing"

	"github.com/portcullis-authz/portcullis/store"
)

func views() []testCase {
	return []testCase{
		{"a view keeps its snapshot while others commit", snapshotHolds},
		{"a view's snapshot is fixed before its first read", snapshotIsFixedAtOnce},
		{"a view sees all that was committed before it", viewSeesCommitted},
		{"a view refuses every write and goes on", viewRefusesWrites},
		{"a view's error is returned as it is", viewReturnsError},
		{"a view in which a read failed fails, whatever its function says", viewSwallowsNothing},
	}
}

func snapshotHolds(t *testing.T, e *env) {
	e.put(t, thing{ID: "a", Account: "x", Name: "a"})
	e.bump(t, "x")
	e.see(t, func(tx store.Tx) error {
		check := func(when string) {
			rec, err := e.things.Get(e.ctx, tx, "a")
			if err != nil || rec.Revision != 1 || rec.Value.Count != 0 {
				t.Errorf("%s: %+v, %v", when, rec, err)
			}
			recs, err := e.things.Find(e.ctx, tx, rank(byRank, store.String("x")))
			if err != nil || len(recs) != 1 {
				t.Errorf("%s: found %q, %v", when, ids(recs), err)
			}
			if rev, err := tx.Revision(e.ctx, "x"); err != nil || rev != 1 {
				t.Errorf("%s: revision %d, %v", when, rev, err)
			}
		}
		check("before")
		e.changeA(t)
		check("after")
		return nil
	})
	if rec, _ := e.get(t, "a"); rec.Value.Count != 1 {
		t.Errorf("the next view: %+v", rec)
	}
}

// changeA changes the record a, adds b and bumps x.
func (e *env) changeA(t *testing.T) {
	e.do(t, func(tx store.Tx) error {
		if _, err := tx.Bump(e.ctx, "x"); err != nil {
			return err
		}
		rec, err := e.things.Get(e.ctx, tx, "a")
		if err != nil {
			return err
		}
		rec.Value.Count++
		if err := e.things.Replace(e.ctx, tx, rec); err != nil {
			return err
		}
		return e.things.Insert(e.ctx, tx, thing{ID: "b", Account: "x", Name: "b"})
	})
}

func snapshotIsFixedAtOnce(t *testing.T, e *env) {
	e.put(t, thing{ID: "a", Account: "x", Name: "a"})
	e.see(t, func(tx store.Tx) error {
		e.changeA(t)
		if rec, err := e.things.Get(e.ctx, tx, "a"); err != nil || rec.Value.Count != 0 {
			t.Errorf("%+v, %v", rec, err)
		}
		if rev, err := tx.Revision(e.ctx, "x"); err != nil || rev != 0 {
			t.Errorf("revision %d, %v", rev, err)
		}
		return nil
	})
}

func viewSeesCommitted(t *testing.T, e *env) {
	for n := range 30 {
		e.put(t, numbered(n))
		if _, err := e.get(t, numbered(n).ID); err != nil {
			t.Fatalf("%d: %v", n, err)
		}
	}
}

func viewRefusesWrites(t *testing.T, e *env) {
	e.put(t, thing{ID: "a"})
	rec, _ := e.get(t, "a")
	e.see(t, func(tx store.Tx) error {
		wantIs(t, "Insert", e.things.Insert(e.ctx, tx, thing{ID: "b"}), store.ErrReadOnly)
		wantIs(t, "Replace", e.things.Replace(e.ctx, tx, rec), store.ErrReadOnly)
		wantIs(t, "Delete", e.things.Delete(e.ctx, tx, rec), store.ErrReadOnly)
		_, err := tx.Bump(e.ctx, "x")
		wantIs(t, "Bump", err, store.ErrReadOnly)
		_, err = e.things.Get(e.ctx, tx, "a")
		wantIs(t, "Get", err, nil)
		return nil
	})
	if got, _ := e.get(t, "a"); got.Revision != 1 {
		t.Errorf("changed: %+v", got)
	}
}

func viewReturnsError(t *testing.T, e *env) {
	if err := e.View(e.ctx, func(store.Tx) error { return errCase }); err != errCase { //nolint:errorlint // as it is, not wrapped
		t.Errorf("got %v", err)
	}
}

func viewSwallowsNothing(t *testing.T, e *env) {
	e.put(t, thing{ID: "a"})
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	err := e.View(ctx, func(tx store.Tx) error {
		_, err := e.things.Get(ctx, tx, "a")
		wantIs(t, "Get", err, nil)
		cancel()
		_, err = e.things.Get(ctx, tx, "a")
		wantIs(t, "Get", err, store.ErrUnavailable)
		return nil
	})
	wantIs(t, "View", err, store.ErrUnavailable)
}
