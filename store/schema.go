package store

import (
	"fmt"
	"regexp"
	"slices"
)

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// Column is one value taken from a record's body, kept beside it for the indexes.
type Column struct {
	Name string
	Kind Kind
}

// Index is a declared order of records. A query gives values for a prefix of its
// columns (equality) and gets the records ordered by the remaining columns and then
// by key, all ascending, or all descending where Descending is set. Columns that
// order a query are never nothing.
type Index struct {
	Name       string
	Columns    []string
	Unique     bool
	Descending bool
}

// Schema is what an engine must know of a collection. Names match [a-z][a-z0-9_]*.
type Schema struct {
	Name    string
	Columns []Column
	Indexes []Index
	// Extract takes the values of Columns, in their order, from a body: engines use it
	// to fill a column that was declared after records were written.
	Extract func(body []byte) ([]Value, error)
}

// Index finds an index by its name; asking for one that is not declared is a
// programming error and panics.
func (s *Schema) Index(name string) Index {
	for _, ix := range s.Indexes {
		if ix.Name == name {
			return ix
		}
	}
	panic(fmt.Sprintf("store: collection %s has no index %q", s.Name, name))
}

// Row is a record as engines see it.
type Row struct {
	// Key names the record in its collection; case-sensitive, 1 to 1,024 bytes.
	Key string
	// Revision is 1 after an insert and grows by one with each replace.
	Revision int64
	// Body is the record as JSON; engines keep it byte for byte.
	Body []byte
	// Columns are the values of the schema's columns, in their order, of a record that is to be
	// written. Engines need not give them with one that was read: they are in its body.
	Columns []Value
}

// Cursor is a place in the order of an index: behind the record with these values.
type Cursor struct {
	// Values are those of the index's columns that order the query.
	Values []Value
	Key    string
}

// Query finds records by equality on the first columns of a declared index.
type Query struct {
	Index string
	Equal []Value
	// After continues behind a record; nil is the beginning.
	After *Cursor
	// Limit is the largest number of records; 0 is all of them.
	Limit int
}

// Validate refuses a declaration that is not of plain names, each there once: engines
// write them into statements.
func (s *Schema) Validate() error {
	if !nameForm.MatchString(s.Name) {
		return fmt.Errorf("%q is no name for a collection", s.Name)
	}
	known := map[string]bool{}
	for _, c := range s.Columns {
		if !nameForm.MatchString(c.Name) || known[c.Name] {
			return fmt.Errorf("collection %s: %q is no name for a column, or there twice", s.Name, c.Name)
		}
		known[c.Name] = true
	}
	seen := map[string]bool{}
	for _, ix := range s.Indexes {
		if !nameForm.MatchString(ix.Name) || seen[ix.Name] || len(ix.Columns) == 0 {
			return fmt.Errorf("collection %s: %q is no index, or there twice", s.Name, ix.Name)
		}
		seen[ix.Name] = true
		if i := slices.IndexFunc(ix.Columns, func(c string) bool { return !known[c] }); i >= 0 {
			return fmt.Errorf("collection %s: index %s names the column %q, which is not declared", s.Name, ix.Name, ix.Columns[i])
		}
	}
	return nil
}

// maxKey is the longest key, in bytes.
const maxKey = 1024

// Fits says why a row is none of the collection: its key's length, the number of its
// values, or their kinds.
func (s *Schema) Fits(row Row) error {
	if row.Key == "" || len(row.Key) > maxKey {
		return fmt.Errorf("store: %s: a key of %d bytes; 1 to %d are allowed", s.Name, len(row.Key), maxKey)
	}
	if len(row.Columns) != len(s.Columns) {
		return fmt.Errorf("store: %s: %d values for %d columns", s.Name, len(row.Columns), len(s.Columns))
	}
	for i, v := range row.Columns {
		if c := s.Columns[i]; !v.IsNull() && v.Kind() != c.Kind {
			return fmt.Errorf("store: %s: a value of another kind for the column %s", s.Name, c.Name)
		}
	}
	return nil
}
