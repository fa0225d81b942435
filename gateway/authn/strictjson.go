package authn

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds the nesting of a header, a payload or a key set.
const maxDepth = 32

var (
	errNotUTF8   = errors.New("the JSON is not UTF-8")
	errSurrogate = errors.New("the JSON has half of a surrogate pair")
	errNotObject = errors.New("the JSON is not an object")
	errSyntax    = errors.New("the JSON is malformed")
	errDuplicate = errors.New("the JSON has a member twice")
	errTooDeep   = errors.New("the JSON is nested too deeply")
)

// strictObject gives the members of one JSON object under their exact names. It
// refuses what the standard decoder repairs or ignores: invalid UTF-8 and lone
// surrogates (both become U+FFFD, so that two values look equal) and members
// that are there twice, at any depth.
func strictObject(raw []byte) (map[string]json.RawMessage, error) {
	if !utf8.Valid(raw) {
		return nil, errNotUTF8
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		// The decoder's own text may quote the input.
		return nil, errSyntax
	}
	if members == nil {
		return nil, errNotObject
	}
	if hasLoneSurrogate(raw) {
		return nil, errSurrogate
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := scanValue(dec, 0); err != nil {
		return nil, err
	}
	return members, nil
}

// scanValue walks one value of JSON whose syntax is known to be good.
func scanValue(dec *json.Decoder, depth int) error {
	if depth > maxDepth {
		return errTooDeep
	}
	token, err := dec.Token()
	if err != nil {
		return errSyntax
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return nil
	}
	seen := map[string]bool{}
	for dec.More() {
		if delim == '{' {
			name, err := dec.Token()
			if err != nil {
				return errSyntax
			}
			key, ok := name.(string)
			if !ok {
				return errSyntax
			}
			if seen[key] {
				return errDuplicate
			}
			seen[key] = true
		}
		if err := scanValue(dec, depth+1); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return errSyntax
	}
	return nil
}

// hasLoneSurrogate looks through the escapes of JSON whose syntax is known to be good.
func hasLoneSurrogate(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++ // the escaped character, which may be a backslash
		first, ok := escapedRune(raw, i)
		if !ok || !utf16.IsSurrogate(first) {
			continue
		}
		second, ok := escapedRune(raw, i+6)
		if !ok || raw[i+5] != '\\' || utf16.DecodeRune(first, second) == utf8.RuneError {
			return true
		}
		i += 10
	}
	return false
}

// escapedRune reads uXXXX at i.
func escapedRune(raw []byte, i int) (rune, bool) {
	if i+5 > len(raw) || raw[i] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(raw[i+1:i+5]), 16, 16)
	return rune(n), err == nil
}
