package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth bounds the nesting of a body (API contract, 1).
const maxDepth = 32

var (
	errNUL      = errors.New("a string holds a NUL character")
	errTrailing = errors.New("something follows the first value")
	errNotThis  = errors.New("another kind of value")
)

// checkJSON holds a body to the contract: one value, valid UTF-8 without lone
// surrogates, no name twice in an object, no NUL, at most 32 levels. Errors say what
// and never quote the body.
func checkJSON(body []byte) error {
	dec := jsontext.NewDecoder(bytes.NewReader(body))
	for {
		tok, err := dec.ReadToken()
		if err != nil {
			return describe(err)
		}
		if tok.Kind() == '"' && bytes.IndexByte([]byte(tok.String()), 0) >= 0 {
			return errNUL
		}
		if dec.StackDepth() > maxDepth {
			return fmt.Errorf("it is nested over %d levels", maxDepth)
		}
		if dec.StackDepth() == 0 {
			break
		}
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return errTrailing
	}
	return nil
}

// describe tells a decoder's complaint by its class: its own text may quote input.
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

func splitObject(raw []byte) (map[string]jsontext.Value, error) {
	out := map[string]jsontext.Value{}
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '{' {
		return nil, errNotThis
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, errNotThis
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return nil, errNotThis
		}
		out[key] = value.Clone()
	}
	return out, nil
}

// splitArray gives the first items of an array, most of them at most, and whether there
// are more; what follows those is not looked at.
func splitArray(raw []byte, most int) (first []jsontext.Value, more bool, err error) {
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '[' {
		return nil, false, errNotThis
	}
	for dec.PeekKind() != ']' {
		if len(first) == most {
			return first, true, nil
		}
		value, err := dec.ReadValue()
		if err != nil {
			return nil, false, errNotThis
		}
		first = append(first, value.Clone())
	}
	return first, false, nil
}
