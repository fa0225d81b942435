package sqlite

import (
	"fmt"
	"strings"

	"github.com/portcullis-authz/portcullis/store"
)

// shape is what the text of a query depends on. Values are arguments.
type shape struct {
	index  string
	equal  int
	prefix bool
	after  bool
}

// shapeOf returns the shape of a query that goes on behind a place with after set.
func shapeOf(q store.Query, after bool) shape {
	return shape{q.Index, len(q.Equal), q.Prefix != "", after}
}

// table holds the statement texts of one collection.
type table struct {
	schema                                 *store.Schema
	get, revision, insert, replace, delete string
	list, load                             string
	hasUnique                              map[string]string
	find                                   map[shape]string
	scan                                   map[shape]string
	count                                  map[shape]string
	deleteAll                              map[shape]string
}

// record lists the columns that reads return. A further one would cost as much as one of these.
const record = "key, revision, body"

// limit is a sum, because SQLite plans a query for the value of a bare parameter, and would parse the
// statement anew for each new value.
const limit = " LIMIT ? + 0"

// ownPrefix starts the names of the engine's own tables.
const ownPrefix = "authz_"

func newTable(s *store.Schema) (*table, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if strings.HasPrefix(s.Name, ownPrefix) || strings.HasPrefix(s.Name, "sqlite_") {
		return nil, fmt.Errorf("the name of the collection %q must not begin with %s or sqlite_", s.Name, ownPrefix)
	}
	name, cols := quote(s.Name), names(s.Columns)
	set, marks, taken := "", "", ""
	for _, c := range cols {
		set += ", " + c + " = ?"
		marks += ", ?"
		taken += ", " + c + " = excluded." + c
	}
	target := "INSERT INTO " + name + " (" + strings.Join(append([]string{record}, cols...), ", ") + ") VALUES (?, "
	t := &table{
		schema:    s,
		get:       "SELECT " + record + " FROM " + name + " WHERE key = ?",
		revision:  "SELECT revision FROM " + name + " WHERE key = ?",
		insert:    target + "1, ?" + marks + ")",
		replace:   "UPDATE " + name + " SET revision = revision + 1, body = ?" + set + " WHERE key = ? AND revision = ?",
		delete:    "DELETE FROM " + name + " WHERE key = ? AND revision = ?",
		list:      "SELECT " + record + " FROM " + name + " WHERE key > ? ORDER BY key" + limit,
		load:      target + "?, ?" + marks + ") ON CONFLICT (key) DO UPDATE SET revision = excluded.revision, body = excluded.body" + taken,
		hasUnique: map[string]string{},
		find:      map[shape]string{},
		scan:      map[shape]string{},
		count:     map[shape]string{},
		deleteAll: map[shape]string{},
	}
	for _, ix := range s.Indexes {
		t.addIndex(ix)
	}
	return t, nil
}

// addIndex makes the statements that read by an index.
func (t *table) addIndex(ix store.Index) {
	if ix.Unique {
		t.hasUnique[ix.Name] = "SELECT 1 FROM " + source(t.schema, ix) + " WHERE " +
			join(columnsOf(ix), " AND ", " = ?") + " AND key <> ?"
	}
	for n := range len(ix.Columns) + 1 {
		t.addShapes(ix, n, false)
		if n < len(ix.Columns) {
			t.addShapes(ix, n, true)
		}
	}
}

// addShapes makes the statements with n equal values, and with a prefix of the next value or without.
func (t *table) addShapes(ix store.Index, n int, prefix bool) {
	sh := shape{ix.Name, n, prefix, false}
	matched := " FROM " + source(t.schema, ix) + where(ix, sh)
	t.count[sh] = "SELECT count(*)" + matched
	t.deleteAll[sh] = "DELETE" + matched
	for _, sh.after = range []bool{false, true} {
		match := " FROM " + source(t.schema, ix) + where(ix, sh) + " ORDER BY " + join(order(ix, n), ", ", direction(ix)) + limit
		t.find[sh] = "SELECT " + record + match
		t.scan[sh] = "SELECT " + strings.Join(append([]string{"key"}, columnsOf(ix)[n:]...), ", ") + match
	}
}

// where selects by equality on the first columns, and by a range of texts on the next one for a prefix. It leaves out
// records with null in an ordering column: no query on this column finds them, and a comparison with null would lose
// them between two pages.
func where(ix store.Index, sh shape) string {
	var terms []string
	n := sh.equal
	for i, c := range columnsOf(ix) {
		switch {
		case i < n:
			terms = append(terms, c+" = ?")
		case i == n && sh.prefix:
			terms = append(terms, rangeTerms(ix, c, sh.after)...)
		default:
			terms = append(terms, c+" IS NOT NULL")
		}
	}
	if sh.after {
		cmp, columns := " > ", order(ix, n)
		if ix.Descending {
			cmp = " < "
		}
		terms = append(terms, "("+join(columns, ", ", "")+")"+cmp+"("+strings.TrimSuffix(strings.Repeat("?, ", len(columns)), ", ")+")")
	}
	return " WHERE " + strings.Join(terms, " AND ")
}

// rangeTerms bounds a column. Behind a place, the plus keeps SQLite from beginning at the range's start and not at the
// place: one of the two is the bound for the index.
func rangeTerms(ix store.Index, column string, after bool) []string {
	switch {
	case !after:
		return []string{column + " >= ?", column + " < ?"}
	case ix.Descending:
		return []string{column + " >= ?", "+" + column + " < ?"}
	default:
		return []string{"+" + column + " >= ?", column + " < ?"}
	}
}

// order returns the columns that order a query: the rest of the index's columns, then the key. A unique
// index has no ties and does not hold the key: to name it would make SQLite sort.
func order(ix store.Index, n int) []string {
	rest := columnsOf(ix)[n:]
	if ix.Unique && len(rest) > 0 {
		return rest
	}
	return append(rest, "key")
}

func direction(ix store.Index) string {
	if ix.Descending {
		return " DESC"
	}
	return ""
}

func source(s *store.Schema, ix store.Index) string {
	return quote(s.Name) + " INDEXED BY " + quote(indexName(s, ix))
}

// indexName returns a name that is unique in the file: all indexes share one namespace, and no
// collection has a dot in its name.
func indexName(s *store.Schema, ix store.Index) string { return s.Name + "." + ix.Name }

func names(columns []store.Column) []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = "c_" + c.Name
	}
	return out
}

func columnsOf(ix store.Index) []string {
	out := make([]string, len(ix.Columns))
	for i, c := range ix.Columns {
		out[i] = "c_" + c
	}
	return out
}

func join(list []string, sep, suffix string) string {
	return strings.Join(list, suffix+sep) + suffix
}

func quote(name string) string { return `"` + name + `"` }
