package message

import (
	"bytes"
	"errors"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxAnswer bounds a server's message in bytes, and so an event of a stream.
const MaxAnswer = 4 << 20

var (
	errTooLarge   = errors.New("the message has over 4 MiB")
	errNotObject  = errors.New("an object is expected")
	errNotArray   = errors.New("an array is expected")
	errNotText    = errors.New("a string is expected")
	errCase       = errors.New("a known member is written in another case")
	errTrailing   = errors.New("something follows the message")
	errNotJSON    = errors.New("it is not acceptable JSON")
	errNotMessage = errors.New("it is not a JSON-RPC message")
)

// walk reads a message whose parts are left out or replaced: it knows the place of each value. It refuses names that
// stand twice and invalid UTF-8, but takes any depth and the NUL character: a server may answer with them.
type walk struct {
	dec  *jsontext.Decoder
	body []byte
}

// newWalk begins to read a message.
func newWalk(body []byte) (*walk, error) {
	if len(body) > MaxAnswer {
		return nil, errTooLarge
	}
	return &walk{jsontext.NewDecoder(bytes.NewBuffer(body)), body}, nil
}

// Place is a value of a message: its first byte, and the byte after its last one.
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
func (w *walk) text() (string, Place, error) {
	if w.kind() != '"' {
		return "", Place{}, errNotText
	}
	place, err := w.value()
	if err != nil {
		return "", Place{}, err
	}
	text, err := jsontext.AppendUnquote(nil, w.body[place.Start:place.End])
	if err != nil {
		return "", Place{}, errNotJSON
	}
	return string(text), place, nil
}

// object reads an object: each reads the value of a member. It refuses a name that is one of names but for the case.
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

// array reads an array: each reads an item.
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

// skip reads the next value and leaves it.
func (w *walk) skip() error { _, err := w.value(); return err }

// end refuses what follows the message.
func (w *walk) end() error {
	if len(bytes.Trim(w.body[w.dec.InputOffset():], " \t\r\n")) > 0 {
		return errTrailing
	}
	return nil
}
