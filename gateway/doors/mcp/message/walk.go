package message

import (
	"bytes"
	"errors"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxAnswer limits a server's message and an event of a stream, in bytes.
const MaxAnswer = 4 << 20

var (
	errTooLarge   = errors.New("the message exceeds 4 MiB")
	errNotObject  = errors.New("a value must be an object")
	errNotArray   = errors.New("a value must be an array")
	errNotText    = errors.New("a value must be a string")
	errCase       = errors.New("a member must have the revision's spelling, with its case")
	errTrailing   = errors.New("bytes follow the message")
	errNotJSON    = errors.New("the message must be JSON without duplicate members and in UTF-8")
	errNotMessage = errors.New("the message must be a JSON-RPC message")
)

// walk parses a message and knows the place of each value, so that parts can be removed or replaced. It rejects duplicate
// names and invalid UTF-8. It accepts any depth and the NUL character, since servers may send them.
type walk struct {
	dec  *jsontext.Decoder
	body []byte
}

// newWalk begins to parse a message.
func newWalk(body []byte) (*walk, error) {
	if len(body) > MaxAnswer {
		return nil, errTooLarge
	}
	return &walk{jsontext.NewDecoder(bytes.NewBuffer(body)), body}, nil
}

// Place is the half-open range of a value's bytes in its message.
type Place struct{ Start, End int }

// value reads the next value.
func (w *walk) value() (Place, error) {
	raw, err := w.dec.ReadValue()
	if err != nil {
		return Place{}, errNotJSON
	}
	end := int(w.dec.InputOffset())
	return Place{end - len(raw), end}, nil
}

// kind returns the kind of the next value.
func (w *walk) kind() jsontext.Kind { return w.dec.PeekKind() }

// text reads a string.
func (w *walk) text() (string, error) {
	if w.kind() != '"' {
		return "", errNotText
	}
	place, err := w.value()
	if err != nil {
		return "", err
	}
	text, err := jsontext.AppendUnquote(nil, w.body[place.Start:place.End])
	if err != nil {
		return "", errNotJSON
	}
	return string(text), nil
}

// object reads an object. each reads the value of a member. It rejects a name that equals one of names only if case is
// ignored.
func (w *walk) object(names []string, each func(name string) error) (Place, error) {
	if w.kind() != '{' {
		return Place{}, errNotObject
	}
	if _, err := w.dec.ReadToken(); err != nil {
		return Place{}, errNotJSON
	}
	start := int(w.dec.InputOffset()) - 1
	for w.kind() != '}' {
		token, err := w.dec.ReadToken()
		if err != nil {
			return Place{}, errNotJSON
		}
		name := token.String()
		if !slices.Contains(names, name) && foldsTo(name, names) {
			return Place{}, errCase
		}
		if err := each(name); err != nil {
			return Place{}, err
		}
	}
	if _, err := w.dec.ReadToken(); err != nil {
		return Place{}, errNotJSON
	}
	return Place{start, int(w.dec.InputOffset())}, nil
}

// array reads an array. each reads an item.
func (w *walk) array(each func() error) error {
	if w.kind() != '[' {
		return errNotArray
	}
	if _, err := w.dec.ReadToken(); err != nil {
		return errNotJSON
	}
	for w.kind() != ']' {
		if w.kind() == jsontext.KindInvalid {
			return errNotJSON
		}
		if err := each(); err != nil {
			return err
		}
	}
	if _, err := w.dec.ReadToken(); err != nil {
		return errNotJSON
	}
	return nil
}

// skip skips the next value.
func (w *walk) skip() error { _, err := w.value(); return err }

// end rejects bytes after the message.
func (w *walk) end() error {
	if len(bytes.Trim(w.body[w.dec.InputOffset():], " \t\r\n")) > 0 {
		return errTrailing
	}
	return nil
}
