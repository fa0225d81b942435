package authn

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth bounds the nesting of a header, a payload or a key set.
const maxDepth = 32

var (
	errNotObject = errors.New("the JSON is not an object")
	errSyntax    = errors.New("the JSON is malformed or not UTF-8")
	errDuplicate = errors.New("the JSON has a member twice")
	errTooDeep   = errors.New("the JSON is nested too deeply")
)

// strictObject returns the members of one JSON object under their exact names. It refuses
// invalid UTF-8, lone surrogates and a name that an object has twice, at any depth, since two
// readers could take different values from them.
func strictObject(raw []byte) (map[string]jsontext.Value, error) {
	if err := checkJSON(raw); err != nil {
		return nil, err
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(raw, &members); err != nil { // several values, or another kind of one
		return nil, errSyntax
	}
	if members == nil { // null
		return nil, errNotObject
	}
	return members, nil
}

// checkJSON reads all of the JSON and refuses what is malformed, ambiguous or nested too
// deeply. The errors are this package's, since the decoder's own may quote the input.
func checkJSON(raw []byte) error {
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	for {
		switch _, err := dec.ReadToken(); {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, jsontext.ErrDuplicateName):
			return errDuplicate
		case err != nil:
			return errSyntax
		case dec.StackDepth() > maxDepth:
			return errTooDeep
		}
	}
}
