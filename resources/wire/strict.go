package wire

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth bounds the nesting of a body (API contract, 1).
const maxDepth = 32

var (
	errNUL       = errors.New("a string holds a NUL character")
	errTrailing  = errors.New("something follows the first value")
	errWrongKind = errors.New("another kind of value")
)

// checkJSON refuses a body that the contract refuses. It must be one value, in valid UTF-8
// without lone surrogates, with no name twice in an object, no NUL, and at most 32 levels.
// Errors do not quote the body.
func checkJSON(body []byte) error {
	s := NewStream(body)
	s.Skip()
	return s.Err()
}

// describe returns an error of the decoder without its text, which may quote the body.
func describe(err error) error {
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return errors.New("a name stands twice in one object")
	case errors.As(err, &syntactic):
		return fmt.Errorf("syntax or UTF-8 error near byte %d", syntactic.ByteOffset)
	default:
		return errors.New("it ends too early")
	}
}

// splitObject returns the raw values of an object by their names.
func splitObject(raw []byte) (map[string]jsontext.Value, error) {
	var out map[string]jsontext.Value
	if err := json.Unmarshal(raw, &out); err != nil || out == nil { // null
		return nil, errWrongKind
	}
	return out, nil
}

// splitArray returns the raw values of the first items of an array, at most limit of them, and
// whether others follow.
func splitArray(raw []byte, limit int) (first []jsontext.Value, more bool, err error) {
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '[' {
		return nil, false, errWrongKind
	}
	for dec.PeekKind() != ']' {
		if len(first) == limit {
			return first, true, nil
		}
		value, err := dec.ReadValue()
		if err != nil {
			return nil, false, errWrongKind
		}
		first = append(first, value.Clone())
	}
	return first, false, nil
}
