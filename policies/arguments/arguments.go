package arguments

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/portcullis-authz/portcullis/resources"
)

const (
	// maxValues bounds the values of arguments at all depths: a schema is evaluated for each of them.
	maxValues = 10_000
	// maxNumber and maxExponent bound a number as it is written: OPA and the validator compute exactly.
	maxNumber   = 128
	maxExponent = 400

	// maxProblems bounds the problems that are named, and maxText the text of each one, in bytes.
	maxProblems = 20
	maxText     = 256
)

// field is the name of the arguments in a problem.
const field = "arguments"

// location is the base of a schema's references. Nothing is loaded from it.
const location = "https://arguments.invalid/schema.json"

// Schema is the compiled schema of a tool's arguments. It is safe for concurrent use.
type Schema struct {
	compiled *jsonschema.Schema
	shapes   map[*jsonschema.Schema]*shape
}

// Compile compiles a schema. It follows no reference out of the schema.
func Compile(raw []byte) (*Schema, error) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("isn't JSON: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	if err := c.AddResource(location, document); err != nil {
		return nil, fmt.Errorf("can't be compiled: %w", err)
	}
	compiled, err := c.Compile(location)
	if err != nil {
		return nil, fmt.Errorf("can't be compiled: %w", err)
	}
	s := &Schema{compiled, map[*jsonschema.Schema]*shape{}}
	shapes(compiled, s.shapes)
	return s, nil
}

var errRemote = errors.New("a schema must not refer to another document")

// noLoader rejects all addresses. The library has the metaschemas of the drafts itself.
type noLoader struct{}

// Load implements jsonschema.URLLoader.
func (noLoader) Load(string) (any, error) { return nil, errRemote }

// Decode parses arguments, a JSON object; nothing is an empty object. It returns their readings: servers read some
// numbers in several ways, most of them as doubles. The first reading has the exact values, and is mostly the only one.
// A number is spelt as shortly as it can be, if that changes no value: 5.0 is 5.
func Decode(raw []byte) (readings []map[string]any, problems []resources.Problem) {
	members := map[string]any{}
	if len(raw) == 0 {
		return []map[string]any{members}, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&members); err != nil || members == nil {
		return nil, []resources.Problem{{Field: field, Text: "must be a JSON object"}}
	}
	b := bounded{budget: maxValues}
	b.value(members)
	switch {
	case b.budget < 0:
		return nil, []resources.Problem{{Field: field, Text: fmt.Sprintf("must have at most %d values", maxValues)}}
	case b.tooLong:
		return nil, []resources.Problem{{Field: field, Text: fmt.Sprintf("must have numbers of at most %d characters, with an exponent of at most %d", maxNumber, maxExponent)}}
	case b.tooLarge:
		return nil, []resources.Problem{{Field: field, Text: "must have numbers within the range of doubles, up to about 1.8e308"}}
	}
	return b.numbers.readings(members), nil
}

// bounded counts values, and finds numbers that are too long, too large or read in several ways.
type bounded struct {
	budget            int
	tooLong, tooLarge bool
	numbers           numbers
}

func (b *bounded) value(v any) {
	if b.budget--; b.budget < 0 {
		return
	}
	switch v := v.(type) {
	case json.Number:
		if b.tooLong = b.tooLong || TooLong(v); !b.tooLong && !b.tooLarge {
			b.tooLarge = !b.numbers.add(v)
		}
	case map[string]any:
		for _, member := range v {
			b.value(member)
		}
	case []any:
		for _, element := range v {
			b.value(element)
		}
	}
}

// TooLong reports whether a number of a client is too long to compute with.
func TooLong(n json.Number) bool {
	_, exponent, _ := strings.Cut(strings.ToLower(string(n)), "e")
	power, err := strconv.Atoi(exponent)
	return len(n) > maxNumber || exponent != "" && (err != nil || power > maxExponent || power < -maxExponent)
}

// Problems returns where a reading of arguments does not fit the schema, nil if it fits.
func (s *Schema) Problems(members map[string]any) []resources.Problem {
	r := report{shapes: s.shapes}
	r.folded([]*jsonschema.Schema{s.compiled}, members, []string{field})
	if err := s.compiled.Validate(members); err != nil {
		var invalid *jsonschema.ValidationError
		if !errors.As(err, &invalid) {
			r.add([]string{field}, "must fit the schema of the tool")
		} else {
			r.leaves(invalid.DetailedOutput())
		}
	}
	return r.sorted()
}

// sorted returns the problems in order, and last how many there are beyond them.
func (r *report) sorted() []resources.Problem {
	slices.SortFunc(r.problems, func(a, b resources.Problem) int { return strings.Compare(a.String(), b.String()) })
	if r.more > 0 {
		r.problems = append(r.problems, resources.Problem{Field: field, Text: fmt.Sprintf("%d further problems", r.more)})
	}
	return r.problems
}

// report collects problems up to maxProblems, and counts the further ones.
type report struct {
	shapes   map[*jsonschema.Schema]*shape
	problems []resources.Problem
	more     int
}

func (r *report) add(path []string, text string) {
	if len(r.problems) == maxProblems {
		r.more++
		return
	}
	r.problems = append(r.problems, resources.Problem{Field: shortened(strings.Join(path, ".")), Text: shortened(text)})
}

func shortened(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "…"
}

// leaves adds the innermost mismatches.
func (r *report) leaves(unit *jsonschema.OutputUnit) {
	if len(unit.Errors) == 0 && unit.Error != nil {
		path := []string{field}
		for token := range strings.SplitSeq(strings.TrimPrefix(unit.InstanceLocation, "/"), "/") {
			if token != "" {
				path = append(path, strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
			}
		}
		r.add(path, unit.Error.String())
	}
	for i := range unit.Errors {
		r.leaves(&unit.Errors[i])
	}
}
