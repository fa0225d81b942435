package storetest

import (
	"errors"
	"testing"

	"github.com/portcullis-authz/portcullis/store"
)

func duplicates() []testCase {
	return []testCase{
		{"a key in use is a duplicate of the key", keyInUse},
		{"a value in use is a duplicate of its index, by insert", valueInUseByInsert},
		{"a value in use is a duplicate of its index, by replace", valueInUseByReplace},
		{"nothing in a unique column is not held against the index", nothingIsExempt},
		{"a replace keeps the record's own unique values", ownValueStays},
		{"a transaction goes on after a duplicate and commits the rest", goesOnAfterDuplicate},
		{"two inserts of one transaction meet each other", duplicateInOneTransaction},
		{"a value given up in a transaction is free in it", freedInTransaction},
		{"of many that take one value at once a single one gets it", oneOfManyWins},
	}
}

func (e *env) refused(t *testing.T, index string, fn func(tx store.Tx) error) {
	t.Helper()
	err := e.Transact(e.ctx, fn)
	if !store.IsDuplicate(err, index) {
		t.Errorf("got %v, want a duplicate of %q", err, index)
	}
	var dup *store.DuplicateError
	if errors.As(err, &dup) && dup.Collection != e.things.Schema().Name {
		t.Errorf("the duplicate is in %q", dup.Collection)
	}
}

func (e *env) insert(v thing) func(tx store.Tx) error {
	return func(tx store.Tx) error { return e.things.Insert(e.ctx, tx, v) }
}

func keyInUse(t *testing.T, e *env) {
	e.put(t, thing{ID: "a", Name: "one"})
	e.refused(t, "", e.insert(thing{ID: "a", Name: "two"}))
	if rec, _ := e.get(t, "a"); rec.Value.Name != "one" || rec.Revision != 1 {
		t.Errorf("changed: %+v", rec)
	}
}

func valueInUseByInsert(t *testing.T, e *env) {
	e.put(t, thing{ID: "a", Account: "x", Name: "one", Tag: "t"})
	e.refused(t, byName, e.insert(thing{ID: "b", Account: "x", Name: "one"}))
	e.refused(t, byTag, e.insert(thing{ID: "b", Account: "x", Name: "two", Tag: "t"}))
	e.put(t, thing{ID: "b", Account: "y", Name: "one", Tag: "u"})
}

func valueInUseByReplace(t *testing.T, e *env) {
	e.put(t, thing{ID: "a", Account: "x", Name: "one", Tag: "t"}, thing{ID: "b", Account: "x", Name: "two"})
	rec, _ := e.get(t, "b")
	rec.Value.Name = "one"
	e.refused(t, byName, func(tx store.Tx) error { return e.things.Replace(e.ctx, tx, rec) })
	rec.Value.Name, rec.Value.Tag = "two", "t"
	e.refused(t, byTag, func(tx store.Tx) error { return e.things.Replace(e.ctx, tx, rec) })
	if got, _ := e.get(t, "b"); got.Revision != 1 || got.Value.Name != "two" || got.Value.Tag != "" {
		t.Errorf("changed: %+v", got)
	}
}

func nothingIsExempt(t *testing.T, e *env) {
	e.put(t, thing{ID: "a", Name: "one"}, thing{ID: "b", Name: "two"}, thing{ID: "c", Name: "three"})
}

func ownValueStays(t *testing.T, e *env) {
	e.put(t, thing{ID: "a", Account: "x", Name: "one", Tag: "t"})
	rec, _ := e.get(t, "a")
	rec.Value.Count = 1
	e.do(t, func(tx store.Tx) error { return e.things.Replace(e.ctx, tx, rec) })
}

func goesOnAfterDuplicate(t *testing.T, e *env) {
	e.put(t, thing{ID: "a", Account: "x", Name: "one"})
	e.do(t, func(tx store.Tx) error {
		if err := e.things.Insert(e.ctx, tx, thing{ID: "before", Name: "before"}); err != nil {
			return err
		}
		if err := e.things.Insert(e.ctx, tx, thing{ID: "a"}); !store.IsDuplicate(err, "") {
			t.Errorf("key: %v", err)
		}
		if err := e.things.Insert(e.ctx, tx, thing{ID: "b", Account: "x", Name: "one"}); !store.IsDuplicate(err, byName) {
			t.Errorf("name: %v", err)
		}
		if _, err := e.things.Get(e.ctx, tx, "b"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("the refused record: %v", err)
		}
		return e.things.Insert(e.ctx, tx, thing{ID: "b", Account: "x", Name: "two"})
	})
	for _, id := range []string{"before", "a", "b"} {
		if _, err := e.get(t, id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
}

func duplicateInOneTransaction(t *testing.T, e *env) {
	e.refused(t, byTag, func(tx store.Tx) error {
		if err := e.things.Insert(e.ctx, tx, thing{ID: "a", Name: "a", Tag: "t"}); err != nil {
			return err
		}
		return e.things.Insert(e.ctx, tx, thing{ID: "b", Name: "b", Tag: "t"})
	})
	_, err := e.get(t, "a")
	wantIs(t, "Get", err, store.ErrNotFound)
}

func freedInTransaction(t *testing.T, e *env) {
	e.put(t, thing{ID: "a", Name: "a", Tag: "t"})
	rec, _ := e.get(t, "a")
	rec.Value.Tag = ""
	e.do(t, func(tx store.Tx) error {
		if err := e.things.Replace(e.ctx, tx, rec); err != nil {
			return err
		}
		return e.things.Insert(e.ctx, tx, thing{ID: "b", Name: "b", Tag: "t"})
	})
	wantIDs(t, e.list(t, store.Query{Index: byTag, Equal: []store.Value{store.String("t")}}), "b")
}

func oneOfManyWins(t *testing.T, e *env) {
	const takers = 8
	won := make(chan bool, takers)
	together(takers, func(i int) {
		err := e.Transact(e.ctx, e.insert(thing{ID: string(rune('a' + i)), Account: "x", Name: "same"}))
		if err != nil && !store.IsDuplicate(err, byName) {
			t.Errorf("taker %d: %v", i, err)
		}
		won <- err == nil
	})
	winners := 0
	for range takers {
		if <-won {
			winners++
		}
	}
	if winners != 1 {
		t.Errorf("%d got the name", winners)
	}
}
