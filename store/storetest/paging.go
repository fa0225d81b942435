package storetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/portcullis-authz/portcullis/store"
)

func paging() []testCase {
	var out []testCase
	for _, index := range []string{byRank, byLatest, byName} {
		for equal := range 2 {
			name := fmt.Sprintf("%s after %d equal values", index, equal)
			out = append(out,
				testCase{name + " gives pages that join to the whole", func(t *testing.T, e *env) { pagesJoin(t, e, index, equal) }},
				testCase{name + " skips and repeats nothing while records come and go", func(t *testing.T, e *env) { pagesAmongChanges(t, e, index, equal) }})
		}
	}
	return append(out,
		testCase{"pages of equal values go on by key", tiesGoByKey},
		testCase{"a cursor whose record is gone still holds its place", cursorOutlivesRecord})
}

// pagedQuery returns a query on (account, …) with the account given or not.
func pagedQuery(index string, equal, limit int) store.Query {
	q := store.Query{Index: index, Limit: limit}
	if equal > 0 {
		q.Equal = []store.Value{store.String("x")}
	}
	return q
}

func numbered(n int) thing {
	return thing{ID: fmt.Sprintf("k%03d", n), Account: "x", Name: fmt.Sprintf("n%03d", 999-n), Rank: int64(n / 4 % 3)}
}

func (e *env) putNumbered(t *testing.T, start, end, step int) {
	var all []thing
	for n := start; n < end; n += step {
		all = append(all, numbered(n))
	}
	e.put(t, all...)
}

// walk reads all pages, each in a view of its own, and calls between after each.
func (e *env) walk(t *testing.T, q store.Query, between func(page int)) (out []string) {
	for page := 0; ; page++ {
		var recs []store.Record[thing]
		e.see(t, func(tx store.Tx) (err error) {
			recs, err = e.things.Find(e.ctx, tx, q)
			return err
		})
		out = append(out, ids(recs)...)
		if len(recs) < q.Limit || page > 1000 {
			return out
		}
		q.After = e.things.CursorAt(q, recs[len(recs)-1].Value)
		between(page)
	}
}

func pagesJoin(t *testing.T, e *env, index string, equal int) {
	e.putNumbered(t, 0, 30, 1)
	e.put(t, thing{ID: "other", Account: "y", Name: "other", Rank: 1})
	whole := e.list(t, pagedQuery(index, equal, 0))
	if want := 31 - equal; len(whole) != want {
		t.Fatalf("%d records, want %d", len(whole), want)
	}
	for _, size := range []int{1, 2, 3, 7, 30, 31, 50} {
		wantIDs(t, e.walk(t, pagedQuery(index, equal, size), func(int) {}), whole...)
	}
}

func pagesAmongChanges(t *testing.T, e *env, index string, equal int) {
	e.putNumbered(t, 0, 60, 2) // these stand all the time
	e.putNumbered(t, 61, 90, 2)
	seen := e.walk(t, pagedQuery(index, equal, 4), func(page int) {
		if n := page*2 + 1; n < 60 {
			e.putNumbered(t, n, n+1, 1)
		}
		if n := 61 + page*2; n < 90 {
			rec, err := e.get(t, numbered(n).ID)
			if err != nil {
				t.Fatal(err)
			}
			e.do(t, func(tx store.Tx) error { return e.things.Delete(e.ctx, tx, rec) })
		}
	})
	sorted := slices.Sorted(slices.Values(seen))
	if len(slices.Compact(slices.Clone(sorted))) != len(seen) {
		t.Errorf("something came twice: %q", seen)
	}
	for n := 0; n < 60; n += 2 {
		if _, ok := slices.BinarySearch(sorted, numbered(n).ID); !ok {
			t.Errorf("%s was skipped", numbered(n).ID)
		}
	}
}

func tiesGoByKey(t *testing.T, e *env) {
	e.putNumbered(t, 0, 24, 1)
	q := store.Query{Index: byRank, Equal: []store.Value{store.String("x"), store.Int(1)}, Limit: 3}
	wantIDs(t, e.walk(t, q, func(int) {}), "k004", "k005", "k006", "k007", "k016", "k017", "k018", "k019")
	q.Index = byLatest
	wantIDs(t, e.walk(t, q, func(int) {}), "k019", "k018", "k017", "k016", "k007", "k006", "k005", "k004")
}

func cursorOutlivesRecord(t *testing.T, e *env) {
	e.putNumbered(t, 0, 4, 1)
	q := pagedQuery(byRank, 1, 2)
	q.After = e.things.CursorAt(q, numbered(1))
	rec, err := e.get(t, numbered(1).ID)
	if err != nil {
		t.Fatal(err)
	}
	e.do(t, func(tx store.Tx) error { return e.things.Delete(e.ctx, tx, rec) })
	wantIDs(t, e.list(t, q), "k002", "k003")
}
