package storetest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/store"
)

// prefixed returns a query on an index over (account, name, …).
func prefixed(index, prefix string) store.Query {
	return store.Query{Index: index, Equal: []store.Value{store.String("x")}, Prefix: prefix}
}

// prefixMatches compares with strings.HasPrefix, for letters that a pattern language or a collation knows otherwise.
func prefixMatches(t *testing.T, e *env) {
	names := []string{
		"", "a", "ab", "abc", "abd", "ac", "A", "Ab", "b", "%", "%a", "_", "_a", ".", ".a", "a.c", "*", "a*", "[a]", `a\b`, "^a", "$a", "a'b",
		"é", "é1", "e\u0301", "ß", "ss", "\uD7FF", "\uD7FFa", "\uE000", "\uFFFD", "\U0001F600", "\U0010FFFF", "\U0010FFFFa", "a\U0010FFFF", "a\U0010FFFFb", "a\x7f", "ab ",
	}
	for i, name := range names {
		e.put(t, thing{ID: "k" + string(rune('0'+i)), Account: "x", Name: name}, thing{ID: "o" + string(rune('0'+i)), Account: "y", Name: name})
	}
	slices.Sort(names)
	for _, index := range []string{byName, byTitle} {
		for _, prefix := range append(slices.Clone(names), "abcd", "\U0010FFFF\U0010FFFF", "\uD7FFb", "zz") {
			var want []string
			for _, name := range names {
				if strings.HasPrefix(name, prefix) {
					want = append(want, name)
				}
			}
			if index == byTitle {
				slices.Reverse(want)
			}
			e.see(t, func(tx store.Tx) error {
				recs, err := e.things.Find(e.ctx, tx, prefixed(index, prefix))
				var got []string
				for _, rec := range recs {
					got = append(got, rec.Value.Name)
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s %q: %q, want %q", index, prefix, got, want)
				}
				return err
			})
		}
	}
}

func prefixGoesWithAll(t *testing.T, e *env) {
	for _, name := range []string{"a", "ba", "bb", "bc", "bd", "c"} {
		e.put(t, thing{ID: name, Account: "x", Name: name, Tag: "t" + name}, thing{ID: "y" + name, Account: "y", Name: name})
	}
	wantIDs(t, e.list(t, store.Query{Index: byTag, Prefix: "tb"}), "ba", "bb", "bc", "bd")
	for index, want := range map[string][]string{byName: {"ba", "bb", "bc", "bd"}, byTitle: {"bd", "bc", "bb", "ba"}} {
		for _, size := range []int{1, 2, 3, 4, 5} {
			q := prefixed(index, "b")
			q.Limit = size
			wantIDs(t, e.walk(t, q, func(int) {}), want...)
		}
		q := prefixed(index, "b")
		for _, place := range []string{"a", "bb", "bbx", "z"} { // also places that are outside of the range
			q.After = &store.Cursor{Values: []store.Value{store.String(place)}, Key: "k"}
			var behind []string
			for _, name := range want {
				if (name > place) == (index == byName) && name != place {
					behind = append(behind, name)
				}
			}
			got := e.list(t, q)
			if index == byTitle && place == "bb" { // the key orders those with one name
				got = slices.DeleteFunc(got, func(id string) bool { return id == "bb" })
			}
			wantIDs(t, got, behind...)
			e.see(t, func(tx store.Tx) error {
				places, err := tx.Scan(e.ctx, e.things.Schema(), q)
				_, counted := e.things.Count(e.ctx, tx, q)
				if n, _ := e.things.Count(e.ctx, tx, q); n != len(want) {
					t.Errorf("%s: count %d", index, n)
				}
				if len(places) != len(e.list(t, q)) {
					t.Errorf("%s behind %q: %v", index, place, places)
				}
				return errors.Join(err, counted)
			})
		}
	}
	e.do(t, func(tx store.Tx) error { return e.things.DeleteAll(e.ctx, tx, prefixed(byName, "bb")) })
	e.do(t, func(tx store.Tx) error { return e.things.DeleteAll(e.ctx, tx, prefixed(byTitle, "bd")) })
	wantIDs(t, e.list(t, prefixed(byName, "")), "a", "ba", "bc", "c")
}

func prefixNeedsText(t *testing.T, e *env) {
	e.putRanked(t)
	x := store.String("x")
	for _, q := range []store.Query{
		{Index: byRank, Equal: []store.Value{x}, Prefix: "1"},
		{Index: byName, Equal: []store.Value{x, x}, Prefix: "b"},
		{Index: byName, Equal: []store.Value{x}, Prefix: "b\xff"},
	} {
		e.see(t, func(tx store.Tx) error {
			if recs, err := e.things.Find(e.ctx, tx, q); err == nil {
				t.Errorf("%+v: found %v", q, ids(recs))
			}
			if n, err := e.things.Count(e.ctx, tx, q); err == nil {
				t.Errorf("%+v: counted %d", q, n)
			}
			return nil
		})
	}
	if err := e.Transact(e.ctx, func(tx store.Tx) error {
		return e.things.DeleteAll(e.ctx, tx, store.Query{Index: byRank, Equal: []store.Value{x}, Prefix: "1"})
	}); err == nil {
		t.Error("deleted")
	}
	if got := e.list(t, rank(byRank, x)); len(got) != 4 {
		t.Errorf("%q", got)
	}
}
