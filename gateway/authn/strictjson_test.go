package authn_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/portcullis-authz/portcullis/gateway/authn"
)

// lists is so many lists, one in the other, around a number.
func lists(levels int) string {
	return strings.Repeat("[", levels) + "1" + strings.Repeat("]", levels)
}

func TestAmbiguousJSONIsRefused(t *testing.T) {
	for name, raw := range map[string]string{
		"nothing":                    ``,
		"white space":                " \n",
		"null":                       `null`,
		"true":                       `true`,
		"number":                     `1`,
		"string":                     `"a"`,
		"list":                       `[{"a":1}]`,
		"cut object":                 `{"a":1`,
		"cut name":                   `{"a`,
		"no value":                   `{"a":}`,
		"no colon":                   `{"a" 1}`,
		"comma at the end":           `{"a":1,}`,
		"name without quotes":        `{a:1}`,
		"single quotes":              `{'a':1}`,
		"comment":                    `{"a":1/**/}`,
		"leading zero":               `{"a":01}`,
		"plus sign":                  `{"a":+1}`,
		"hexadecimal":                `{"a":0x10}`,
		"NaN":                        `{"a":NaN}`,
		"True":                       `{"a":True}`,
		"raw control character":      "{\"a\":\"\n\"}",
		"unknown escape":             `{"a":"\x41"}`,
		"white space of Unicode":     "\u00a0{}",
		"byte order mark":            "\ufeff{}",
		"two values":                 `{}{}`,
		"a value after white space":  `{"a":1} 2`,
		"NUL after":                  "{}\x00",
		"bracket after":              `{}]`,
		"name twice":                 `{"a":1,"a":1}`,
		"name twice, one escaped":    `{"a":1,"\u0061":1}`,
		"name twice, not in a row":   `{"a":1,"b":2,"a":3}`,
		"empty name twice":           `{"":1,"":2}`,
		"name twice in an object":    `{"x":{"a":1,"a":1}}`,
		"name twice in a list":       `{"x":[1,{"a":1,"a":1}]}`,
		"invalid UTF-8 in a value":   "{\"a\":\"\xff\"}",
		"invalid UTF-8 in a name":    "{\"\xff\":1}",
		"overlong UTF-8":             "{\"a\":\"\xc0\xaf\"}",
		"surrogate as UTF-8":         "{\"a\":\"\xed\xa0\x80\"}",
		"high surrogate":             `{"a":"\ud800"}`,
		"low surrogate":              `{"a":"\udfff"}`,
		"high surrogate, then text":  `{"a":"\ud83dabcdef"}`,
		"surrogates in wrong order":  `{"a":"\ude00\ud83d"}`,
		"surrogate in a name":        `{"\ud800":1}`,
		"surrogate deep down":        `{"a":[{"b":"\ud800"}]}`,
		"one level too deep":         `{"a":` + lists(32) + `}`,
		"far too deep":               `{"a":` + lists(5000) + `}`,
		"too deep, and not closed":   `{"a":` + strings.Repeat("[", 5000),
		"too deep in objects":        strings.Repeat(`{"a":`, 33) + `1` + strings.Repeat(`}`, 33),
		"too deep beside other ones": `{"a":1,"b":[[],` + lists(31) + `]}`,
	} {
		t.Run(name, func(t *testing.T) {
			if members, err := authn.StrictObject([]byte(raw)); err == nil || members != nil {
				t.Errorf("accepted as %q", members)
			}
		})
	}
}

func TestUnambiguousJSONIsRead(t *testing.T) {
	for raw, want := range map[string]string{
		`{}`:                            ``,
		" \t\r\n{ \"a\" : [ 1 , 2 ] } ": `[ 1 , 2 ]`,
		`{"A":1,"a":2}`:                 `2`,
		`{"a":"\ud83d\ude00 \\ud800 \ufffd \u0000"}`: `"\ud83d\ude00 \\ud800 \ufffd \u0000"`,
		`{"a":1e400,"x":{"a":1}}`:                    `1e400`,
		`{"a":null}`:                                 `null`,
		`{"\u0061":true}`:                            `true`,
		`{"a":` + lists(31) + `}`:                    lists(31),
	} {
		if members, err := authn.StrictObject([]byte(raw)); err != nil || string(members["a"]) != want {
			t.Errorf("%s: %q %v", raw, members, err)
		}
	}
}

// FuzzStrictObject guarantees that the standard decoder finds the same members in every
// accepted object, and had nothing to repair or to drop.
func FuzzStrictObject(f *testing.F) {
	for _, seed := range []string{
		`{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"x":[{"a":1,"a":2}]}`, `{"a":"\ud800"}`, `{"a":"\ud83d\ude00"}`, "{\"a\":\"\xff\"}", "{\"\xff\":1}",
		`null`, `[]`, `{}{}`, "\ufeff{}", `{"a":1e400,"b":-0.5,"c":"\u0000","":{}}`, `{"a":"\ufffd\\ud800"}`, `{"a":` + lists(31) + `}`, `{"a":` + lists(32) + `}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		members, err := authn.StrictObject(raw)
		if err != nil {
			return
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(raw, &want); err != nil || !utf8.Valid(raw) || len(want) != len(members) {
			t.Fatalf("%q: %q, the standard decoder: %q %v", raw, members, want, err)
		}
		for name, value := range want {
			if !bytes.Equal(members[name], value) {
				t.Errorf("%q: %q is %q, the standard decoder: %q", raw, name, members[name], value)
			}
		}
		values, replaced := survey(t, raw)
		if got := size(t, raw); got != values {
			t.Errorf("%q has %d values, of which %d are left", raw, values, got)
		}
		if written := bytes.Count(raw, []byte("\ufffd")) + bytes.Count(bytes.ToLower(raw), []byte(`\ufffd`)); replaced > written {
			t.Errorf("%q: %d characters were replaced", raw, replaced-written)
		}
	})
}

// survey returns how many values the JSON has, names being values, and how many replacement
// characters its strings have.
func survey(t *testing.T, raw []byte) (values, replacements int) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	for {
		token, err := dec.Token()
		if err == io.EOF {
			return values, replacements
		}
		if err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		if token != json.Delim('}') && token != json.Delim(']') {
			values++
		}
		if s, ok := token.(string); ok {
			replacements += strings.Count(s, "\ufffd")
		}
	}
}

// size returns how many values are left once the JSON is a tree, in which a name stands once.
func size(t *testing.T, raw []byte) int {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	var count func(any) int
	count = func(value any) int {
		n := 1
		switch value := value.(type) {
		case map[string]any:
			for _, member := range value {
				n += 1 + count(member)
			}
		case []any:
			for _, item := range value {
				n += count(item)
			}
		}
		return n
	}
	return count(tree)
}
