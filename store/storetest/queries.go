package storetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/portcullis-authz/portcullis/store"
)

func queries() []testCase {
	return []testCase{
		{"a prefix of an index's columns selects, the rest orders", prefixSelects},
		{"a descending index gives the reverse, keys too", descendingReverses},
		{"nothing is found by no query on that column", nothingIsNotFound},
		{"a limit cuts, and zero is all", limitCuts},
		{"a count is what the query matches, whatever the cursor and the limit", countMatches},
		{"the first is the one that a list begins with", firstIsHead},
		{"a query reads what its transaction wrote", queryReadsOwnWrites},
		{"a scan gives the places of what is found", scanGivesPlaces},
		{"a prefix matches the beginning of texts, letter for letter", prefixMatches},
		{"a prefix goes with a cursor, a limit, a count and a deletion", prefixGoesWithAll},
		{"a prefix without a column of texts is refused", prefixNeedsText},
	}
}

// rank returns a query on an index over (account, rank).
func rank(index string, equal ...store.Value) store.Query {
	return store.Query{Index: index, Equal: equal}
}

func (e *env) putRanked(t *testing.T) {
	e.put(t,
		thing{ID: "d", Account: "x", Name: "d", Rank: 2}, thing{ID: "b", Account: "x", Name: "b", Rank: 2},
		thing{ID: "c", Account: "x", Name: "c", Rank: -1}, thing{ID: "a", Account: "y", Name: "a", Rank: 1},
		thing{ID: "e", Account: "x", Name: "e", Rank: 10})
}

func prefixSelects(t *testing.T, e *env) {
	e.putRanked(t)
	x := store.String("x")
	wantIDs(t, e.list(t, rank(byRank)), "c", "b", "d", "e", "a")
	wantIDs(t, e.list(t, rank(byRank, x)), "c", "b", "d", "e")
	wantIDs(t, e.list(t, rank(byRank, x, store.Int(2))), "b", "d")
	wantIDs(t, e.list(t, rank(byRank, x, store.Int(3))))
	wantIDs(t, e.list(t, rank(byName, x)), "b", "c", "d", "e")
	wantIDs(t, e.list(t, rank(byName, x, store.String("d"))), "d")
}

func descendingReverses(t *testing.T, e *env) {
	e.putRanked(t)
	x := store.String("x")
	wantIDs(t, e.list(t, rank(byLatest)), "a", "e", "d", "b", "c")
	wantIDs(t, e.list(t, rank(byLatest, x)), "e", "d", "b", "c")
	wantIDs(t, e.list(t, rank(byLatest, x, store.Int(2))), "d", "b")
}

func nothingIsNotFound(t *testing.T, e *env) {
	e.put(t, thing{ID: "a", Name: "a"}, thing{ID: "b", Name: "b", Tag: "t"})
	q := rank(byTag, store.Value{})
	wantIDs(t, e.list(t, q))
	wantIDs(t, e.list(t, rank(byTag, store.String(""))))
	e.see(t, func(tx store.Tx) error {
		if n, err := e.things.Count(e.ctx, tx, q); err != nil || n != 0 {
			t.Errorf("count: %d, %v", n, err)
		}
		return nil
	})
}

func limitCuts(t *testing.T, e *env) {
	e.putRanked(t)
	all := []string{"c", "b", "d", "e", "a"}
	for _, limit := range []int{0, 1, 4, 5, 6} {
		q, want := rank(byRank), all
		q.Limit = limit
		if limit > 0 {
			want = all[:min(limit, len(all))]
		}
		wantIDs(t, e.list(t, q), want...)
	}
}

func countMatches(t *testing.T, e *env) {
	e.putRanked(t)
	x := store.String("x")
	for want, q := range map[int]store.Query{
		5: rank(byRank), 4: rank(byRank, x), 2: rank(byLatest, x, store.Int(2)), 1: rank(byName, x, store.String("d")),
		0: rank(byRank, store.String("z")),
	} {
		e.see(t, func(tx store.Tx) error {
			q.Limit = 1
			if len(q.Equal) == 1 {
				q.After = &store.Cursor{Values: []store.Value{store.Int(2)}, Key: "d"}
			}
			n, err := e.things.Count(e.ctx, tx, q)
			if err != nil || n != want {
				t.Errorf("%+v: %d, %v; want %d", q, n, err, want)
			}
			return nil
		})
	}
}

func firstIsHead(t *testing.T, e *env) {
	e.putRanked(t)
	e.see(t, func(tx store.Tx) error {
		for want, q := range map[string]store.Query{"c": rank(byRank), "a": rank(byLatest)} {
			if rec, err := e.things.First(e.ctx, tx, q); err != nil || rec.Value.ID != want {
				t.Errorf("%s: %+v, %v", want, rec, err)
			}
		}
		return nil
	})
}

func queryReadsOwnWrites(t *testing.T, e *env) {
	e.putRanked(t)
	e.do(t, func(tx store.Tx) error {
		if err := e.things.Insert(e.ctx, tx, thing{ID: "new", Account: "x", Name: "new", Rank: 0}); err != nil {
			return err
		}
		rec, err := e.things.Get(e.ctx, tx, "b")
		if err != nil {
			return err
		}
		if err := e.things.Delete(e.ctx, tx, rec); err != nil {
			return err
		}
		recs, err := e.things.Find(e.ctx, tx, rank(byRank, store.String("x")))
		wantIDs(t, ids(recs), "c", "new", "d", "e")
		if n, err := e.things.Count(e.ctx, tx, rank(byRank, store.String("x"))); err != nil || n != 4 {
			return fmt.Errorf("count: %d, %w", n, err)
		}
		return err
	})
}

func scanGivesPlaces(t *testing.T, e *env) {
	e.putRanked(t)
	e.put(t, thing{ID: "f", Account: "x", Name: "f", Rank: 3, Tag: "t"})
	x := store.String("x")
	for _, q := range []store.Query{
		rank(byRank), rank(byRank, x), rank(byRank, x, store.Int(2)), rank(byLatest, x), rank(byName, x),
		rank(byName, x, store.String("d")), rank(byTag), rank(byTag, store.Value{}), rank(byRank, store.String("z")),
	} {
		for range 2 {
			e.see(t, func(tx store.Tx) error {
				recs, err := e.things.Find(e.ctx, tx, q)
				if err != nil {
					return err
				}
				places, err := tx.Scan(e.ctx, e.things.Schema(), q)
				if err != nil || len(places) != len(recs) {
					return fmt.Errorf("%+v: %+v for %d records, %w", q, places, len(recs), err)
				}
				for i, rec := range recs {
					if want := e.things.CursorAt(q, rec.Value); places[i].Key != want.Key || !slices.Equal(places[i].Values, want.Values) {
						t.Errorf("%+v: %+v, want %+v", q, places[i], *want)
					}
				}
				if len(places) > 0 {
					q.After, q.Limit = &places[0], 2
				}
				return nil
			})
		}
	}
}
