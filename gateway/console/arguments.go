package console

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// argument is a member of a call's parameters.
type argument struct {
	Name []textPart
	// Kind is the JSON type for readers, with the length of a text.
	Kind  string
	Value []textPart
}

// textPart is a part of a text. Unseen is true for the code of a character that readers can't see, such as U+202E.
type textPart struct {
	Text   string
	Unseen bool
}

// partsOf returns a text in which the codes of invisible characters stand in place of these. Line breaks stay.
func partsOf(text string) (out []textPart) {
	begin := 0
	for i, r := range text {
		if r == '\n' || !resources.Unseen(r) {
			continue
		}
		if begin < i {
			out = append(out, textPart{Text: text[begin:i]})
		}
		out = append(out, textPart{fmt.Sprintf("U+%04X", r), true})
		begin = i + len(string(r))
	}
	if begin < len(text) {
		out = append(out, textPart{Text: text[begin:]})
	}
	return out
}

// argumentsOf returns the members of a JSON object in their order. It returns nil for another text, whose JSON the page
// shows all the same.
func argumentsOf(object string) (out []argument) {
	dec := json.NewDecoder(strings.NewReader(object))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	for dec.More() {
		name, err := dec.Token()
		text, ok := name.(string)
		var value json.RawMessage
		if err != nil || !ok || dec.Decode(&value) != nil {
			return nil
		}
		out = append(out, argumentOf(text, value))
	}
	return out
}

func argumentOf(name string, value json.RawMessage) argument {
	var text string
	if value[0] == '"' && json.Unmarshal(value, &text) == nil {
		n := len([]rune(text))
		return argument{partsOf(name), "text, " + countOf(n) + map[bool]string{true: " character", false: " characters"}[n == 1], partsOf(text)}
	}
	kinds := map[byte]string{'{': "object", '[': "list", 't': "yes or no", 'f': "yes or no", 'n': "null"}
	return argument{partsOf(name), cmp.Or(kinds[value[0]], "number"), partsOf(plainJSON(value))}
}

// plainJSON returns a value with one member a line, and without needless escapes. Numbers keep their text.
func plainJSON(value json.RawMessage) string {
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber()
	var decoded any
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if dec.Decode(&decoded) != nil || enc.Encode(decoded) != nil {
		return string(value)
	}
	return strings.TrimSuffix(out.String(), "\n")
}
