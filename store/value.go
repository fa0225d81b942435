package store

// Kind is the type of a column.
type Kind int

// The kinds of column.
const (
	KindString Kind = iota
	KindInt
)

// Value is a typed value of a column: a string, an integer or null. The zero value is
// null. A unique index ignores a record with null in one of its columns, and no query on
// that column finds it.
type Value struct {
	text  string
	num   int64
	kind  Kind
	valid bool
}

// String returns a string value.
func String(s string) Value { return Value{text: s, kind: KindString, valid: true} }

// OptionalString returns a string value, or null for "".
func OptionalString(s string) Value {
	if s == "" {
		return Value{}
	}
	return String(s)
}

// Int returns an integer value.
func Int(n int64) Value { return Value{num: n, kind: KindInt, valid: true} }

// Kind returns the type of a value that is not null.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports whether the value is null.
func (v Value) IsNull() bool { return !v.valid }

// Text returns the string, "" for another kind.
func (v Value) Text() string { return v.text }

// Number returns the integer, 0 for another kind.
func (v Value) Number() int64 { return v.num }
