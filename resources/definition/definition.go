package definition

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// prefix begins a definition.
const prefix = "sha256:"

var (
	errNotATool = errors.New("must be a JSON object with a name")
	errNumber   = errors.New("has a number beyond the range of a double")
)

// Of returns the definition of a tool, an item of tools/list as the server sent it: sha256: and the SHA-256 in hexadecimal
// of the canonical JSON (RFC 8785) of one object of its name, title, description, inputSchema, outputSchema and
// annotations. Absent members stay absent. Numbers are doubles there: two that are one double are equal.
//
// It returns an error for a tool with two readings: with a member given twice at any depth, with invalid UTF-8, or with a
// number beyond the range of a double.
func Of(tool []byte) (string, error) {
	if jsontext.Value(tool).Kind() != jsontext.KindBeginObject {
		return "", errNotATool
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(tool, &members); err != nil {
		return "", fmt.Errorf("must be strict JSON: %w", err)
	}
	kept := map[string]jsontext.Value{}
	for _, name := range []string{"name", "title", "description", "inputSchema", "outputSchema", "annotations"} {
		if value := members[name]; value != nil {
			kept[name] = value
		}
	}
	if name := kept["name"]; name.Kind() != jsontext.KindString || string(name) == `""` {
		return "", errNotATool
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return "", err
	}
	if err := checkNumbers(text); err != nil {
		return "", err
	}
	canonical := jsontext.Value(text)
	if err := canonical.Canonicalize(); err != nil {
		return "", err
	}
	sum := sha256.Sum256(canonical)
	return prefix + hex.EncodeToString(sum[:]), nil
}

// checkNumbers refuses numbers that Canonicalize would replace by the largest one.
func checkNumbers(text []byte) error {
	dec := jsontext.NewDecoder(bytes.NewReader(text))
	for {
		token, err := dec.ReadToken()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if token.Kind() != jsontext.KindNumber {
			continue
		}
		if _, err := strconv.ParseFloat(token.String(), 64); err != nil {
			return fmt.Errorf("%s: %w", dec.StackPointer(), errNumber)
		}
	}
}
