package storetest

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/portcullis-authz/portcullis/store"
)

func records() []testCase {
	return []testCase{
		{"an inserted record is read back at revision 1", insertedIsRead},
		{"what is not there is ErrNotFound", absentIsNotFound},
		{"a replace gives the next revision", replaceGivesNextRevision},
		{"a replace at an old revision is ErrRevision and changes nothing", oldRevisionIsRefused},
		{"a replace leaves the indexes with the new values only", replaceMovesIndexes},
		{"a replace keeps what a newer release has written", replaceKeepsNewerMembers},
		{"a delete removes the record and its place in the indexes", deleteRemoves},
		{"a delete at an old revision is ErrRevision and removes nothing", oldDeleteIsRefused},
		{"all that a query matches are deleted, whatever its cursor and limit", allAreDeleted},
		{"records of several keys are read together", severalAreRead},
		{"a deleted key starts again at revision 1", deletedKeyStartsAgain},
		{"rows carry key, revision and body", rowsCarryTheirRecord},
		{"collections do not see each other's keys", collectionsAreApart},
	}
}

func insertedIsRead(t *testing.T, e *env) {
	want := thing{ID: "a", Account: "x", Name: "n", Tag: "t", Rank: -7}
	e.put(t, want)
	rec, err := e.get(t, "a")
	if err != nil || rec.Revision != 1 || !reflect.DeepEqual(rec.Value, want) {
		t.Fatalf("got %+v, %v", rec, err)
	}
}

func absentIsNotFound(t *testing.T, e *env) {
	e.do(t, func(tx store.Tx) error {
		rec := store.Record[thing]{Value: thing{ID: "a"}, Revision: 1}
		_, err := e.things.Get(e.ctx, tx, "a")
		wantIs(t, "Get", err, store.ErrNotFound)
		wantIs(t, "Replace", e.things.Replace(e.ctx, tx, rec), store.ErrNotFound)
		wantIs(t, "Delete", e.things.Delete(e.ctx, tx, rec), store.ErrNotFound)
		_, err = e.things.First(e.ctx, tx, store.Query{Index: byRank})
		wantIs(t, "First", err, store.ErrNotFound)
		return nil
	})
}

func replaceGivesNextRevision(t *testing.T, e *env) {
	e.put(t, thing{ID: "a", Name: "one"})
	for want := int64(2); want <= 4; want++ {
		rec, _ := e.get(t, "a")
		rec.Value.Count = int(want)
		e.do(t, func(tx store.Tx) error { return e.things.Replace(e.ctx, tx, rec) })
		if got, err := e.get(t, "a"); err != nil || got.Revision != want || got.Value.Count != int(want) {
			t.Fatalf("got %+v, %v; want revision %d", got, err, want)
		}
	}
}

func oldRevisionIsRefused(t *testing.T, e *env) {
	e.put(t, thing{ID: "a", Name: "one"})
	old, _ := e.get(t, "a")
	e.do(t, func(tx store.Tx) error { return e.things.Replace(e.ctx, tx, old) })
	for _, revision := range []int64{0, 1, 3} {
		bad := old
		bad.Revision, bad.Value.Name = revision, "other"
		err := e.Transact(e.ctx, func(tx store.Tx) error { return e.things.Replace(e.ctx, tx, bad) })
		wantIs(t, "Replace", err, store.ErrRevision)
	}
	if got, _ := e.get(t, "a"); got.Revision != 2 || got.Value.Name != "one" {
		t.Fatalf("changed: %+v", got)
	}
}

func replaceMovesIndexes(t *testing.T, e *env) {
	e.put(t, thing{ID: "a", Account: "x", Name: "one", Tag: "t", Rank: 1})
	rec, _ := e.get(t, "a")
	rec.Value = thing{ID: "a", Account: "y", Name: "two", Rank: 2}
	e.do(t, func(tx store.Tx) error { return e.things.Replace(e.ctx, tx, rec) })
	for _, gone := range []store.Query{
		{Index: byName, Equal: []store.Value{store.String("x")}},
		{Index: byTag, Equal: []store.Value{store.String("t")}},
		{Index: byRank, Equal: []store.Value{store.String("x")}},
	} {
		wantIDs(t, e.list(t, gone))
	}
	wantIDs(t, e.list(t, store.Query{Index: byRank, Equal: []store.Value{store.String("y"), store.Int(2)}}), "a")
}

// olderThing is a thing of a release with fewer fields.
type olderThing struct {
	ID      string `json:"id"`
	Account string `json:"account"`
	Name    string `json:"name"`
	Tag     string `json:"tag,omitempty"`
	Rank    int64  `json:"rank"`
}

// replaceKeepsNewerMembers guarantees that a change by an older release keeps the members of a newer one. It can take away
// its own.
func replaceKeepsNewerMembers(t *testing.T, e *env) {
	older := store.NewCollection(*e.things.Schema(), func(v *olderThing) string { return v.ID }, func(v *olderThing) []store.Value {
		return []store.Value{store.String(v.Account), store.String(v.Name), store.OptionalString(v.Tag), store.Int(v.Rank)}
	})
	e.put(t, thing{ID: "a", Account: "x", Name: "n", Tag: "t", Rank: 1, Count: 7, Extra: json.RawMessage(`{"<b>":[1,null]}`)})
	for want := int64(2); want <= 3; want++ {
		e.do(t, func(tx store.Tx) error {
			rec, err := older.Get(e.ctx, tx, "a")
			if err != nil {
				return err
			}
			rec.Value.Tag, rec.Value.Rank = "", want
			return older.Replace(e.ctx, tx, rec)
		})
		kept := thing{ID: "a", Account: "x", Name: "n", Rank: want, Count: 7, Extra: json.RawMessage(`{"<b>":[1,null]}`)}
		if got, err := e.get(t, "a"); err != nil || got.Revision != want || !reflect.DeepEqual(got.Value, kept) {
			t.Fatalf("got %+v, %v; want %+v", got.Value, err, kept)
		}
	}
}

func deleteRemoves(t *testing.T, e *env) {
	e.put(t, thing{ID: "a", Account: "x", Name: "one", Tag: "t"})
	rec, _ := e.get(t, "a")
	e.do(t, func(tx store.Tx) error { return e.things.Delete(e.ctx, tx, rec) })
	_, err := e.get(t, "a")
	wantIs(t, "Get", err, store.ErrNotFound)
	wantIDs(t, e.list(t, store.Query{Index: byTag, Equal: []store.Value{store.String("t")}}))
	e.put(t, thing{ID: "b", Account: "x", Name: "one", Tag: "t"})
}

func oldDeleteIsRefused(t *testing.T, e *env) {
	e.put(t, thing{ID: "a"})
	rec, _ := e.get(t, "a")
	e.do(t, func(tx store.Tx) error { return e.things.Replace(e.ctx, tx, rec) })
	err := e.Transact(e.ctx, func(tx store.Tx) error { return e.things.Delete(e.ctx, tx, rec) })
	wantIs(t, "Delete", err, store.ErrRevision)
	if _, err := e.get(t, "a"); err != nil {
		t.Fatalf("removed: %v", err)
	}
}

func allAreDeleted(t *testing.T, e *env) {
	e.putRanked(t)
	x := store.String("x")
	q := rank(byRank, x, store.Int(2))
	q.Limit, q.After = 1, &store.Cursor{Key: "c"}
	e.do(t, func(tx store.Tx) error {
		if err := e.things.Insert(e.ctx, tx, thing{ID: "new", Account: "x", Name: "new", Rank: 2}); err != nil {
			return err
		}
		return errors.Join(e.things.DeleteAll(e.ctx, tx, rank(byRank, store.String("nobody"))), e.things.DeleteAll(e.ctx, tx, rank(byTag, store.Value{})),
			e.things.DeleteAll(e.ctx, tx, q))
	})
	wantIDs(t, e.list(t, rank(byRank)), "c", "e", "a")
	wantIDs(t, e.list(t, rank(byName, x)), "c", "e")
	wantIs(t, "in a view", e.View(e.ctx, func(tx store.Tx) error { return e.things.DeleteAll(e.ctx, tx, q) }), store.ErrReadOnly)
	gone := errors.New("given up")
	wantIs(t, "given up", e.Transact(e.ctx, func(tx store.Tx) error {
		return errors.Join(e.things.DeleteAll(e.ctx, tx, rank(byRank, x)), gone)
	}), gone)
	wantIDs(t, e.list(t, rank(byRank)), "c", "e", "a")
	e.do(t, func(tx store.Tx) error { return e.things.DeleteAll(e.ctx, tx, rank(byLatest, x)) })
	wantIDs(t, e.list(t, rank(byRank)), "a")
}

func severalAreRead(t *testing.T, e *env) {
	e.putRanked(t)
	e.see(t, func(tx store.Tx) error {
		records, err := e.things.GetAll(e.ctx, tx, []string{"e", "nobody", "a", "e"})
		if err != nil || len(records) != 2 || records["e"].Value.Rank != 10 || records["a"].Value.Account != "y" || records["a"].Revision != 1 {
			t.Errorf("%+v, %v", records, err)
		}
		if records, err = e.things.GetAll(e.ctx, tx, nil); err != nil || len(records) != 0 {
			t.Errorf("no keys: %+v, %v", records, err)
		}
		return nil
	})
}

func deletedKeyStartsAgain(t *testing.T, e *env) {
	e.put(t, thing{ID: "a"})
	rec, _ := e.get(t, "a")
	e.do(t, func(tx store.Tx) error {
		if err := e.things.Delete(e.ctx, tx, rec); err != nil {
			return err
		}
		return e.things.Insert(e.ctx, tx, thing{ID: "a", Count: 9})
	})
	if got, err := e.get(t, "a"); err != nil || got.Revision != 1 || got.Value.Count != 9 {
		t.Fatalf("got %+v, %v", got, err)
	}
}

func rowsCarryTheirRecord(t *testing.T, e *env) {
	want := thing{ID: "a", Account: "x", Name: "n", Rank: 5}
	e.put(t, want)
	same := func(row store.Row) bool {
		var got thing
		err := json.Unmarshal(row.Body, &got)
		return err == nil && row.Key == "a" && row.Revision == 1 && reflect.DeepEqual(got, want)
	}
	e.see(t, func(tx store.Tx) error {
		row, err := tx.Get(e.ctx, e.things.Schema(), "a")
		if err != nil || !same(row) {
			t.Errorf("Get: %+v, %v", row, err)
		}
		rows, err := tx.Find(e.ctx, e.things.Schema(), store.Query{Index: byRank})
		if err != nil || len(rows) != 1 || !same(rows[0]) {
			t.Errorf("Find: %+v, %v", rows, err)
		}
		return nil
	})
}

func collectionsAreApart(t *testing.T, e *env) {
	e.put(t, thing{ID: "a"})
	e.do(t, func(tx store.Tx) error {
		_, err := e.links.Get(e.ctx, tx, "a")
		wantIs(t, "Get", err, store.ErrNotFound)
		return e.links.Insert(e.ctx, tx, link{From: "a", To: "b"})
	})
}

func wantIs(t *testing.T, title string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: got %v, want %v", title, err, want)
	}
}

func wantIDs(t *testing.T, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) || (len(want) > 0 && !reflect.DeepEqual(got, want)) {
		t.Errorf("got %q, want %q", got, want)
	}
}
