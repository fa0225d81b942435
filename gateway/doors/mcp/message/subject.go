package message

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Subject is what a user approves about a call of a tool: its parameters without `_meta`.
type Subject struct {
	// Arguments is the raw object of the arguments, nil without arguments. Further is an object of the other parameters
	// but for the tool's name, nil without any.
	Arguments, Further []byte
	// Hash is sha256: and the SHA-256 in hexadecimal of the canonical JSON (RFC 8785) of all parameters but `_meta`. Numbers
	// keep their text there: two texts of one double can be two numbers for a server.
	Hash string
}

// ReadSubject reads the subject of a parsed request.
func ReadSubject(body []byte) (Subject, error) {
	var request struct {
		Params map[string]jsontext.Value `json:"params"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return Subject{}, err
	}
	params := request.Params
	delete(params, "_meta")
	hash, err := canonicalHash(params)
	if err != nil {
		return Subject{}, err
	}
	s := Subject{Arguments: slices.Clone(params["arguments"]), Hash: hash}
	delete(params, "arguments")
	delete(params, "name")
	if len(params) > 0 {
		s.Further, err = json.Marshal(params, json.Deterministic(true))
	}
	return s, err
}

func canonicalHash(params map[string]jsontext.Value) (string, error) {
	text, err := json.Marshal(params)
	if err != nil {
		return "", err
	}
	canonical := jsontext.Value(text)
	if err := canonical.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)); err != nil {
		return "", err
	}
	sum := sha256.Sum256(canonical)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}
