package storetest

import (
	"errors"
	"slices"
	"testing"

	"github.com/portcullis-authz/portcullis/store"
)

func whole() []testCase {
	return []testCase{
		{"a list gives every record by its key, those in no index too", listGivesAll},
		{"a list goes on after a key that is gone", listGoesOn},
		{"a loaded record has its revision, and takes the place of another", loadKeepsRevision},
		{"a loaded record is found by its columns", loadedIsFound},
		{"a load with a unique value of another record fails", loadKeepsUnique},
		{"a loaded revision is the account's, and moves the epoch", loadedRevision},
		{"a view loads nothing", viewLoadsNothing},
	}
}

// listed returns the keys of a list, page by page.
func (e *env) listed(t *testing.T, size int) (keys []string) {
	t.Helper()
	for after := ""; ; {
		var page []store.Row
		e.see(t, func(tx store.Tx) (err error) {
			page, err = tx.List(e.ctx, e.things.Schema(), after, size)
			return err
		})
		if len(page) > size {
			t.Fatalf("a page of %d, limit %d", len(page), size)
		}
		for _, row := range page {
			keys = append(keys, row.Key)
			after = row.Key
		}
		if len(page) == 0 {
			return keys
		}
	}
}

func listGivesAll(t *testing.T, e *env) {
	e.putRanked(t)
	e.put(t, thing{ID: "B", Name: "B", Tag: "t"}, thing{ID: "é", Name: "é"}, thing{ID: "a|b", Name: "ab"})
	for _, size := range []int{1, 2, 3, 8, 100} {
		if got, want := e.listed(t, size), []string{"B", "a", "a|b", "b", "c", "d", "e", "é"}; !slices.Equal(got, want) {
			t.Errorf("pages of %d: %q, want %q", size, got, want)
		}
	}
	if got := e.list(t, rank(byTag)); len(got) != 1 {
		t.Errorf("by tag: %q", got)
	}
	e.see(t, func(tx store.Tx) error {
		page, err := tx.List(e.ctx, e.things.Schema(), "", 0)
		if len(page) != 0 {
			t.Errorf("a limit of 0 gives %d", len(page))
		}
		return err
	})
}

func listGoesOn(t *testing.T, e *env) {
	e.putRanked(t)
	e.see(t, func(tx store.Tx) error {
		page, err := tx.List(e.ctx, e.things.Schema(), "bb", 2)
		if len(page) != 2 || page[0].Key != "c" || page[1].Key != "d" {
			t.Errorf("%v", page)
		}
		return err
	})
}

// row returns a thing as engines see it, at a revision.
func (e *env) row(t *testing.T, v thing, revision int64) (out store.Row) {
	t.Helper()
	stop := errors.New("undo")
	err := e.Transact(e.ctx, func(tx store.Tx) error {
		if err := e.things.Insert(e.ctx, tx, v); err != nil {
			return err
		}
		row, err := tx.Get(e.ctx, e.things.Schema(), v.ID)
		if err != nil {
			return err
		}
		out = row
		return stop
	})
	if !errors.Is(err, stop) {
		t.Fatal(err)
	}
	if out.Columns, err = e.things.Schema().Extract(out.Body); err != nil {
		t.Fatal(err)
	}
	out.Revision = revision
	return out
}

func (e *env) load(t *testing.T, rows ...store.Row) {
	t.Helper()
	e.do(t, func(tx store.Tx) error {
		for _, row := range rows {
			if err := tx.Load(e.ctx, e.things.Schema(), row); err != nil {
				return err
			}
		}
		return nil
	})
}

func loadKeepsRevision(t *testing.T, e *env) {
	first, second := e.row(t, thing{ID: "a", Name: "first", Tag: "t"}, 7), e.row(t, thing{ID: "a", Name: "second"}, 41)
	e.load(t, first)
	e.load(t, first)
	e.load(t, second)
	rec, err := e.get(t, "a")
	if err != nil || rec.Revision != 41 || rec.Value.Name != "second" {
		t.Fatalf("%+v, %v", rec, err)
	}
	rec.Value.Name = "third"
	e.do(t, func(tx store.Tx) error { return e.things.Replace(e.ctx, tx, rec) })
	if rec, err = e.get(t, "a"); err != nil || rec.Revision != 42 {
		t.Errorf("%+v, %v", rec, err)
	}
	wantIDs(t, e.list(t, rank(byTag)))
}

func loadedIsFound(t *testing.T, e *env) {
	e.load(t, e.row(t, thing{ID: "a", Account: "x", Name: "n", Tag: "t", Rank: 3}, 2))
	wantIDs(t, e.list(t, rank(byRank, store.String("x"), store.Int(3))), "a")
	wantIDs(t, e.list(t, rank(byTag, store.String("t"))), "a")
}

func loadKeepsUnique(t *testing.T, e *env) {
	e.put(t, thing{ID: "a", Name: "a", Tag: "t"})
	row := e.row(t, thing{ID: "b", Name: "b"}, 1)
	row.Columns[2] = store.String("t")
	err := e.Transact(e.ctx, func(tx store.Tx) error { return tx.Load(e.ctx, e.things.Schema(), row) })
	if err == nil {
		t.Error("taken")
	}
	wantIDs(t, e.list(t, rank(byTag)), "a")
}

func loadedRevision(t *testing.T, e *env) {
	before := e.freshness(t)
	e.do(t, func(tx store.Tx) error { return tx.LoadRevision(e.ctx, "x", 70) })
	e.wantRevision(t, "x", 70)
	e.bump(t, "x")
	e.wantRevision(t, "x", 71)
	if after := e.freshness(t); after.Epoch != before.Epoch+2 {
		t.Errorf("epoch %d, then %d", before.Epoch, after.Epoch)
	}
	changed, complete, err := e.Changes(e.ctx, before.Epoch, 10)
	if err != nil || !complete || !slices.Equal(changed, []store.AccountRevision{{AccountID: "x", Revision: 71}}) {
		t.Errorf("%v, %v, %v", changed, complete, err)
	}
}

func viewLoadsNothing(t *testing.T, e *env) {
	row := e.row(t, thing{ID: "a", Name: "a"}, 1)
	for name, write := range map[string]func(tx store.Tx) error{
		"a record":   func(tx store.Tx) error { return tx.Load(e.ctx, e.things.Schema(), row) },
		"a revision": func(tx store.Tx) error { return tx.LoadRevision(e.ctx, "x", 2) },
	} {
		if err := e.View(e.ctx, write); !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
