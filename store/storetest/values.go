package storetest

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/store"
)

func oddValues() []testCase {
	return []testCase{
		{"keys and values are case-sensitive", caseMatters},
		{"strings are kept and told apart as they are", stringsAreKept},
		{"keys have 1 to 1,024 bytes", keyLength},
		{"bodies are kept byte for byte", bodiesAreKept},
		{"integers keep all 64 bits", integersAreKept},
		{"strings are ordered by their bytes", stringsOrderByBytes},
	}
}

func caseMatters(t *testing.T, e *env) {
	e.put(t, thing{ID: "Key", Account: "x", Name: "Name", Tag: "Tag"},
		thing{ID: "key", Account: "x", Name: "name", Tag: "tag"}, thing{ID: "KEY", Account: "X", Name: "NAME", Tag: "TAG"})
	_, err := e.get(t, "kEY")
	wantIs(t, "Get", err, store.ErrNotFound)
	wantIDs(t, e.list(t, store.Query{Index: byTag, Equal: []store.Value{store.String("tag")}}), "key")
	wantIDs(t, e.list(t, store.Query{Index: byRank, Equal: []store.Value{store.String("x")}}), "Key", "key")
}

// odd strings are those that a delimiter, a query language, a collation or a normaliser could
// take for others.
func odd() []string {
	return []string{
		"a|b", "a||b", "a:b", "a/b", "a.b", "$where", "{\"$gt\":\"\"}", "' OR 1=1 --", "\"", "`", "%", "_", "?1", "\\", "\\u0000",
		" a", "a ", "\ta", "a\n", "null", "0", "1e3", "007", "true", "é", "e\u0301", "ß", "ss", "İ", "ı", "日本", "😀", "\u200b", "\ufeff", "\u202e",
	}
}

func stringsAreKept(t *testing.T, e *env) {
	e.do(t, func(tx store.Tx) error {
		for _, s := range odd() {
			if err := e.things.Insert(e.ctx, tx, thing{ID: s, Account: s, Name: s, Tag: s}); err != nil {
				t.Errorf("%q: %v", s, err)
			}
		}
		return nil
	})
	e.see(t, func(tx store.Tx) error {
		for _, s := range odd() {
			if rec, err := e.things.Get(e.ctx, tx, s); err != nil || rec.Value.ID != s {
				t.Errorf("%q: %+v, %v", s, rec, err)
			}
			recs, err := e.things.Find(e.ctx, tx, store.Query{Index: byTag, Equal: []store.Value{store.String(s)}})
			if err != nil || len(recs) != 1 || recs[0].Value.ID != s {
				t.Errorf("%q: found %q, %v", s, ids(recs), err)
			}
			if _, err := tx.Bump(e.ctx, s); err == nil {
				t.Errorf("a view bumped %q", s)
			}
		}
		return nil
	})
	e.do(t, func(tx store.Tx) error {
		for _, s := range odd() {
			if rev, err := tx.Bump(e.ctx, s); err != nil || rev != 1 {
				t.Errorf("bump %q: %d, %v", s, rev, err)
			}
		}
		return nil
	})
}

func keyLength(t *testing.T, e *env) {
	long := strings.Repeat("é", 512)
	other := long[:1022] + "è"
	e.put(t, thing{ID: long, Name: "a"}, thing{ID: other, Name: "b"}, thing{ID: "x", Name: "c"})
	for _, id := range []string{long, other, "x"} {
		if rec, err := e.get(t, id); err != nil || rec.Value.ID != id {
			t.Errorf("a key of %d bytes: %v", len(id), err)
		}
	}
	for _, id := range []string{"", long + "x"} {
		if err := e.Transact(e.ctx, e.insert(thing{ID: id, Name: "d"})); err == nil {
			t.Errorf("a key of %d bytes was taken", len(id))
		}
	}
}

func bodiesAreKept(t *testing.T, e *env) {
	bodies := map[string]string{
		"numbers": `{"n":9007199254740993,"m":1e400,"z":-0,"f":1.10,"l":0.30000000000000004}`,
		"order":   `{"z":1,"a":2,"m":{"b":1,"a":2}}`,
		"spaces":  "{ \"a\" :\t1 }\n",
		"escapes": `{"a":"\u003c\u00e9<é","$set":{"a.b":1},"":null}`,
		"empty":   `{}`,
		"large":   `{"a":"` + strings.Repeat("x", 1<<18) + `"}`,
	}
	columns := func(key string) []store.Value {
		return []store.Value{store.String(""), store.String(key), {}, store.Int(0)}
	}
	e.do(t, func(tx store.Tx) error {
		for key, body := range bodies {
			if err := tx.Insert(e.ctx, e.things.Schema(), store.Row{Key: key, Body: []byte(body), Columns: columns(key)}); err != nil {
				return err
			}
		}
		return nil
	})
	e.see(t, func(tx store.Tx) error {
		for key, body := range bodies {
			if row, err := tx.Get(e.ctx, e.things.Schema(), key); err != nil || string(row.Body) != body || !json.Valid(row.Body) {
				t.Errorf("%s: %.80q, %v", key, row.Body, err)
			}
		}
		rows, err := tx.Find(e.ctx, e.things.Schema(), store.Query{Index: byRank})
		for _, row := range rows {
			if string(row.Body) != bodies[row.Key] {
				t.Errorf("found %s: %.80q", row.Key, row.Body)
			}
		}
		return err
	})
}

func integersAreKept(t *testing.T, e *env) {
	e.put(t, thing{ID: "min", Name: "a", Rank: math.MinInt64}, thing{ID: "max", Name: "b", Rank: math.MaxInt64},
		thing{ID: "odd", Name: "c", Rank: 1<<53 + 1}, thing{ID: "even", Name: "d", Rank: 1 << 53})
	wantIDs(t, e.list(t, store.Query{Index: byRank}), "min", "even", "odd", "max")
	wantIDs(t, e.list(t, store.Query{Index: byRank, Equal: []store.Value{store.String(""), store.Int(1<<53 + 1)}}), "odd")
}

func stringsOrderByBytes(t *testing.T, e *env) {
	for _, name := range []string{"b", "a", "B", "é", "Z", "z", "10", "9", "a!"} {
		e.put(t, thing{ID: name, Name: name, Account: "x"})
	}
	wantIDs(t, e.list(t, store.Query{Index: byName, Equal: []store.Value{store.String("x")}}),
		"10", "9", "B", "Z", "a", "a!", "b", "z", "é")
}
