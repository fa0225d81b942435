package storetest

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"github.com/portcullis-authz/portcullis/store"
)

// OneByOne makes the reads of Tx.Together one after the other.
func OneByOne(ctx context.Context, tx store.Tx, account string, reads ...store.Read) (revision int64, rows [][]store.Row, err error) {
	if revision, err = tx.Revision(ctx, account); err != nil {
		return 0, nil, err
	}
	rows = make([][]store.Row, len(reads))
	for i, r := range reads {
		if rows[i], err = store.ReadOne(ctx, tx, r); err != nil {
			return 0, nil, err
		}
	}
	return revision, rows, nil
}

func severalReads() []testCase {
	return []testCase{
		{"reads together give what each gives alone", togetherIsEach},
		{"reads together see what their transaction wrote", togetherSeesOwnWrites},
		{"reads together are of the view's snapshot", togetherIsOneSnapshot},
		{"reads together after a transaction's end are refused", togetherEnds},
	}
}

// someReads returns reads of every kind: of present and absent records, in all orders, of limited and
// continued lists.
func (e *env) someReads() []store.Read {
	things, x := e.things.Schema(), store.String("x")
	return []store.Read{
		{Schema: things, Key: "b"},
		{Schema: things, Key: "a"},
		{Schema: things, Key: "b"},
		{Schema: things, Query: rank(byLatest, store.String("y"))},
		{Schema: things, Query: rank(byRank, x)},
		{Schema: things, Key: "nobody"},
		{Schema: things, Query: rank(byRank, x)},
		{Schema: things, Query: rank(byLatest, x)},
		{Schema: things, Query: rank(byRank, store.String("nobody"))},
		{Schema: things, Query: store.Query{Index: byRank, Equal: []store.Value{x}, Limit: 2}},
		{Schema: things, Query: store.Query{Index: byRank, Equal: []store.Value{x}, After: &store.Cursor{Values: []store.Value{store.Int(2)}, Key: "b"}}},
		{Schema: things, Query: rank(byTag, store.Value{})},
		{Schema: things, Query: rank(byRank, x, store.Int(2))},
		{Schema: things, Query: rank(byRank, x, store.Int(-1))},
		{Schema: things, Query: rank(byRank, store.String("y"), store.Int(2))},
		{Schema: things, Query: rank(byName, x, store.String("d"))},
		{Schema: things, Query: rank(byName, x, store.String("c"))},
		{Schema: e.links.Schema(), Key: "b"},
	}
}

func (e *env) wantTogether(t *testing.T, tx store.Tx, account string, reads []store.Read) {
	t.Helper()
	revision, rows, err := tx.Together(e.ctx, account, reads...)
	wantRevision, want, wantErr := OneByOne(e.ctx, tx, account, reads...)
	if err != nil || wantErr != nil {
		t.Fatal(err, wantErr)
	}
	if revision != wantRevision || len(rows) != len(want) {
		t.Errorf("revision %d and %d lists, want %d and %d", revision, len(rows), wantRevision, len(want))
	}
	for i := range want {
		if got, want := plain(rows[i]), plain(want[i]); !reflect.DeepEqual(got, want) {
			t.Errorf("read %d: %v, want %v", i, got, want)
		}
	}
}

// plain returns the parts of rows that every engine returns.
func plain(rows []store.Row) (out []store.Row) {
	for _, r := range rows {
		r.Columns = nil
		out = append(out, r)
	}
	return out
}

func togetherIsEach(t *testing.T, e *env) {
	e.putRanked(t)
	e.bump(t, "x")
	e.bump(t, "x", "")
	for range 2 { // a statement that was made before is used again
		e.see(t, func(tx store.Tx) error {
			for _, account := range []string{"x", "", "nobody"} {
				e.wantTogether(t, tx, account, e.someReads())
			}
			e.wantTogether(t, tx, "x", slices.Concat(e.someReads(), e.someReads())) // more than an engine may read at once
			revision, rows, err := tx.Together(e.ctx, "x")
			if revision != 2 || len(rows) != 0 {
				t.Errorf("no reads: %d, %v", revision, rows)
			}
			return err
		})
	}
}

func togetherSeesOwnWrites(t *testing.T, e *env) {
	e.putRanked(t)
	e.do(t, func(tx store.Tx) error {
		if _, err := tx.Bump(e.ctx, "x"); err != nil {
			return err
		}
		if err := e.things.Insert(e.ctx, tx, thing{ID: "new", Account: "x", Name: "new"}); err != nil {
			return err
		}
		revision, rows, err := tx.Together(e.ctx, "x", store.Read{Schema: e.things.Schema(), Key: "new"})
		if err == nil && (revision != 1 || len(rows[0]) != 1) {
			t.Errorf("revision %d, found %v", revision, rows)
		}
		return err
	})
}

func togetherIsOneSnapshot(t *testing.T, e *env) {
	e.put(t, thing{ID: "a", Account: "x", Name: "a"})
	e.bump(t, "x")
	e.see(t, func(tx store.Tx) error {
		e.changeA(t)
		revision, rows, err := tx.Together(e.ctx, "x",
			store.Read{Schema: e.things.Schema(), Key: "a"}, store.Read{Schema: e.things.Schema(), Query: rank(byRank, store.String("x"))})
		if err == nil && (revision != 1 || len(rows[0]) != 1 || rows[0][0].Revision != 1 || len(rows[1]) != 1) {
			t.Errorf("revision %d, found %v", revision, rows)
		}
		return err
	})
}

func togetherEnds(t *testing.T, e *env) {
	var kept store.Tx
	e.see(t, func(tx store.Tx) error {
		kept = tx
		return nil
	})
	if _, _, err := kept.Together(e.ctx, "x", e.someReads()...); err == nil {
		t.Error("no error")
	}
}
