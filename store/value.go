package store

// Kind is the type of a column.
type Kind int

// The kinds of column.
const (
	KindString Kind = iota
	KindInt
)

// Value is a typed value of a column: a string, an integer or nothing. The zero
// value is nothing; a record with nothing in a column of a unique index is not held
// against that index, and is found by no query on that column.
type Value struct {
	text  string
	num   int64
	kind  Kind
	valid bool
}

// String makes a string value.
func String(s string) Value { return Value{text: s, kind: KindString, valid: true} }

// OptionalString makes a string value, or nothing for "".
func OptionalString(s string) Value {
	if s == "" {
		return Value{}
	}
	return String(s)
}

// Int makes an integer value.
func Int(n int64) Value { return Value{num: n, kind: KindInt, valid: true} }

// Kind is the type of the value; meaningless for nothing.
func (v Value) Kind() Kind { return v.kind }

// IsNull says whether the value is nothing.
func (v Value) IsNull() bool { return !v.valid }

// Text is the string; "" for another kind.
func (v Value) Text() string { return v.text }

// Number is the integer; 0 for another kind.
func (v Value) Number() int64 { return v.num }
