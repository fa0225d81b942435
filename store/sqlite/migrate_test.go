package sqlite_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/sqlite"
	"github.com/portcullis-authz/portcullis/test/must"
)

type pet struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	Age  int64  `json:"age"`
}

// pets declares the collection with the named columns and indexes. The columns are kind, age, and
// size, the age as a text.
func pets(columns string, indexes ...store.Index) store.Collection[pet] {
	schema := store.Schema{Name: "pets", Indexes: indexes}
	names := strings.Fields(columns)
	for _, n := range names {
		kind := store.KindString
		if n == "age" {
			kind = store.KindInt
		}
		schema.Columns = append(schema.Columns, store.Column{Name: n, Kind: kind})
	}
	return store.NewCollection(schema, func(p *pet) string { return p.ID }, func(p *pet) (out []store.Value) {
		for _, n := range names {
			out = append(out, map[string]store.Value{
				"kind": store.OptionalString(p.Kind), "age": store.Int(p.Age), "size": store.String(fmt.Sprint(p.Age)),
			}[n])
		}
		return out
	})
}

func putPets(t *testing.T, dir string, c store.Collection[pet], all ...pet) {
	t.Helper()
	s := open(t, dir, c.Schema())
	defer func() { _ = s.Close() }()
	must.Do(t, s.Transact(t.Context(), func(tx store.Tx) error {
		for _, p := range all {
			if err := c.Insert(t.Context(), tx, p); err != nil {
				return err
			}
		}
		return nil
	}))
}

func findPets(t *testing.T, dir string, c store.Collection[pet], q store.Query) (out []string) {
	t.Helper()
	s := open(t, dir, c.Schema())
	defer func() { _ = s.Close() }()
	must.Do(t, s.View(t.Context(), func(tx store.Tx) error {
		recs, err := c.Find(t.Context(), tx, q)
		for _, rec := range recs {
			out = append(out, rec.Value.ID)
		}
		return err
	}))
	return out
}

func wantPets(t *testing.T, got []string, want string) {
	t.Helper()
	if strings.Join(got, " ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNewColumnAndIndexAreFilledFromTheBodies(t *testing.T) {
	dir := t.TempDir()
	byKind := store.Index{Name: "by_kind", Columns: []string{"kind"}}
	byAge := store.Index{Name: "by_age", Columns: []string{"kind", "age"}}
	putPets(t, dir, pets("kind", byKind), pet{"a", "cat", 9}, pet{"b", "cat", 1}, pet{"c", "dog", 5})
	wantPets(t, findPets(t, dir, pets("kind age", byKind, byAge), store.Query{Index: "by_age", Equal: []store.Value{store.String("cat")}}), "b a")
}

func TestManyRecordsAreFilled(t *testing.T) {
	dir := t.TempDir()
	var all []pet
	for n := range 1203 {
		all = append(all, pet{fmt.Sprintf("p%04d", n), "cat", int64(5000 - n)})
	}
	putPets(t, dir, pets(""), all...)
	got := findPets(t, dir, pets("age", store.Index{Name: "by_age", Columns: []string{"age"}}), store.Query{Index: "by_age"})
	if len(got) != len(all) || got[0] != "p1202" || got[1202] != "p0000" {
		t.Errorf("%d are found, from %v", len(got), got[:min(len(got), 1)])
	}
}

func TestColumnDeclaredAgainHoldsNoOldValues(t *testing.T) {
	dir := t.TempDir()
	byAge := store.Index{Name: "by_age", Columns: []string{"age"}}
	putPets(t, dir, pets("age", byAge), pet{"a", "cat", 9})
	putPets(t, dir, pets("kind"), pet{"b", "cat", 1})
	wantPets(t, findPets(t, dir, pets("age", byAge), store.Query{Index: "by_age"}), "b a")
}

func TestChangedIndexIsMadeAnew(t *testing.T) {
	dir := t.TempDir()
	unique := store.Index{Name: "by_kind", Columns: []string{"kind"}, Unique: true}
	putPets(t, dir, pets("kind age", unique), pet{"a", "cat", 9})
	plain := store.Index{Name: "by_kind", Columns: []string{"kind", "age"}}
	putPets(t, dir, pets("kind age", plain), pet{"b", "cat", 1}) // would be a duplicate
	wantPets(t, findPets(t, dir, pets("kind age", plain), store.Query{Index: "by_kind"}), "b a")

	_, err := sqlite.Open(t.Context(), sqlite.Options{Dir: dir, Schemas: []*store.Schema{pets("kind age", unique).Schema()}})
	if err == nil || !strings.Contains(err.Error(), "by_kind") {
		t.Errorf("a unique index over duplicates: %v", err)
	}
	wantPets(t, findPets(t, dir, pets("kind age", plain), store.Query{Index: "by_kind"}), "b a")
}

func TestFailedFillChangesNothing(t *testing.T) {
	dir := t.TempDir()
	byAge := store.Index{Name: "by_age", Columns: []string{"age"}}
	putPets(t, dir, pets("kind"), pet{"a", "cat", 9}, pet{"b", "dog", 1})
	bad := pets("kind age", byAge).Schema()
	extract := bad.Extract
	bad.Extract = func(body []byte) ([]store.Value, error) {
		var p pet
		if err := json.Unmarshal(body, &p); err != nil || p.ID == "b" {
			return nil, errors.Join(err, errors.New("unreadable"))
		}
		return extract(body)
	}
	_, err := sqlite.Open(t.Context(), sqlite.Options{Dir: dir, Schemas: []*store.Schema{bad}})
	if err == nil || !strings.Contains(err.Error(), `"b"`) {
		t.Errorf("got %v", err)
	}
	wantPets(t, findPets(t, dir, pets("kind age", byAge), store.Query{Index: "by_age"}), "b a")
}

func TestBadDeclarationsAreRefused(t *testing.T) {
	for name, schema := range map[string]*store.Schema{
		"table name":  {Name: `x" (y); --`},
		"own table":   {Name: "authz_rev"},
		"column name": {Name: "x", Columns: []store.Column{{Name: "a b"}}},
		"index name":  {Name: "x", Columns: []store.Column{{Name: "a"}}, Indexes: []store.Index{{Name: "By", Columns: []string{"a"}}}},
		"no column":   {Name: "x", Indexes: []store.Index{{Name: "by", Columns: []string{"a"}}}},
	} {
		if s, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir(), Schemas: []*store.Schema{schema}}); err == nil {
			_ = s.Close()
			t.Errorf("%s: accepted", name)
		}
	}
}
