package store

import (
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"
)

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// Column is one value taken from a record's body and stored beside it for the indexes.
type Column struct {
	Name string
	Kind Kind
}

// Index is a declared order of records. A query gives values for a prefix of its
// columns (equality) and gets the records ordered by the remaining columns and then
// by key, all ascending, or all descending where Descending is set. Columns that
// order a query always have a value.
type Index struct {
	Name       string
	Columns    []string
	Unique     bool
	Descending bool
}

// Schema is what an engine knows of a collection. Names match [a-z][a-z0-9_]*.
type Schema struct {
	Name    string
	Columns []Column
	Indexes []Index
	// Extract returns the values of Columns, in their order, from a body. Engines fill with it
	// a column that was declared after records were written.
	Extract func(body []byte) ([]Value, error)
}

// Index returns the index of that name. It panics for an unknown name: a programming error.
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
	// Columns are the values of the schema's columns, in their order, of a record to be written.
	// Engines need not return them with a record that was read: they are in its body.
	Columns []Value
}

// Cursor is a place in the order of an index: after the record with these values.
type Cursor struct {
	// Values are those of the index's columns that order the query.
	Values []Value
	Key    string
}

// Query finds records by equality on the first columns of a declared index.
type Query struct {
	Index string
	Equal []Value
	// Prefix is the text with which values of the index's next column begin; "" matches every value. The column has
	// texts, which are compared byte for byte. No character of Prefix has a special meaning.
	Prefix string
	// After is the place to continue from; nil is the beginning.
	After *Cursor
	// Limit is the largest number of records; 0 sets no limit.
	Limit int
}

// Validate returns an error unless every name matches [a-z][a-z0-9_]* and is declared once:
// engines write names into statements.
func (s *Schema) Validate() error {
	if !nameForm.MatchString(s.Name) {
		return fmt.Errorf("the name of the collection %q must match %s", s.Name, nameForm)
	}
	names := map[string]bool{}
	for _, c := range s.Columns {
		if !nameForm.MatchString(c.Name) || names[c.Name] {
			return fmt.Errorf("collection %s: the name of the column %q must match %s and be declared once", s.Name, c.Name, nameForm)
		}
		names[c.Name] = true
	}
	seen := map[string]bool{}
	for _, ix := range s.Indexes {
		if !nameForm.MatchString(ix.Name) || seen[ix.Name] || len(ix.Columns) == 0 {
			return fmt.Errorf("collection %s: the index %q must have columns and a name that matches %s and is declared once", s.Name, ix.Name, nameForm)
		}
		seen[ix.Name] = true
		if i := slices.IndexFunc(ix.Columns, func(c string) bool { return !names[c] }); i >= 0 {
			return fmt.Errorf("collection %s: index %s names the column %q, which must be declared", s.Name, ix.Name, ix.Columns[i])
		}
	}
	return nil
}

// maxKey is the longest key, in bytes.
const maxKey = 1024

// Fits returns an error unless the row is one of the collection: by the length of its key, the
// number of its values, and their kinds.
func (s *Schema) Fits(row Row) error {
	if row.Key == "" || len(row.Key) > maxKey {
		return fmt.Errorf("store: %s: the key has %d bytes; it must have 1 to %d", s.Name, len(row.Key), maxKey)
	}
	if len(row.Columns) != len(s.Columns) {
		return fmt.Errorf("store: %s: the row has %d values; it must have one for each of the %d columns", s.Name, len(row.Columns), len(s.Columns))
	}
	for i, v := range row.Columns {
		if c := s.Columns[i]; !v.IsNull() && v.Kind() != c.Kind {
			return fmt.Errorf("store: %s: the value of the column %s must be of its kind", s.Name, c.Name)
		}
	}
	return nil
}

// PrefixEnd returns the first text behind all that begin with the query's Prefix; "" if none is. It returns an error
// unless the index has a column of texts behind those of Equal, and Prefix is UTF-8.
func (s *Schema) PrefixEnd(q Query) (string, error) {
	ix := s.Index(q.Index)
	next := len(q.Equal)
	if next >= len(ix.Columns) || s.kind(ix.Columns[next]) != KindString || !utf8.ValidString(q.Prefix) {
		return "", fmt.Errorf("store: %s: a prefix must be UTF-8 and have a column of texts behind the %d values for index %s", s.Name, next, ix.Name)
	}
	runes := []rune(q.Prefix)
	for i := len(runes) - 1; i >= 0; i-- {
		switch runes[i] {
		case utf8.MaxRune: // the character before it moves
		case lastBeforeSurrogates:
			return string(append(runes[:i:i], firstAfterSurrogates)), nil
		default:
			return string(append(runes[:i:i], runes[i]+1)), nil
		}
	}
	return "", nil
}

// The characters around the surrogates, which UTF-8 does not have.
const (
	lastBeforeSurrogates = '\uD7FF'
	firstAfterSurrogates = '\uE000'
)

// kind returns the kind of a declared column.
func (s *Schema) kind(name string) Kind {
	return s.Columns[slices.IndexFunc(s.Columns, func(c Column) bool { return c.Name == name })].Kind
}
