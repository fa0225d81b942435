package policytest

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/question"
)

// The kinds of values that an input has.
const (
	aText   = "string"
	aFlag   = "boolean"
	aNumber = "integer"
	aList   = "array"
	aTable  = "table" // an object by names that are free
	aPart   = "part"  // an object by names of the schema
)

// form is what the schema says of one value of the input, with what was seen there.
type form struct {
	kind  string
	parts map[string]*form // of a part
	each  *form            // of a list or a table
	// seen are constants as Rego has them; of a table its names.
	seen []string
}

// value is one of the input where a rule can read it.
type value struct {
	text string
	*form
}

// formOf reads a schema.
func formOf(schema map[string]any) *form {
	kind, _ := schema["type"].(string)
	if kind == "number" {
		kind = aNumber
	}
	f := &form{kind: kind}
	switch below, isTable := schema["additionalProperties"].(map[string]any); {
	case kind == "object" && isTable:
		f.kind, f.each = aTable, formOf(below)
	case kind == "object":
		f.kind, f.parts = aPart, map[string]*form{}
		properties, _ := schema["properties"].(map[string]any)
		for name, of := range properties {
			f.parts[name] = formOf(of.(map[string]any))
		}
	case kind == aList:
		f.each = formOf(schema["items"].(map[string]any))
	}
	words, _ := schema["enum"].([]any)
	for _, word := range words {
		f.see(word)
	}
	return f
}

// see takes note of a value, so that rules compare with what there is.
func (f *form) see(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if f.kind == aTable {
				f.note(fmt.Sprintf("%q", name))
				f.each.see(v[name])
			} else if below := f.parts[name]; below != nil {
				below.see(v[name])
			}
		}
	case []any:
		for _, item := range v {
			f.each.see(item)
		}
	default:
		text, _ := json.Marshal(v)
		f.note(string(text))
	}
}

func (f *form) note(constant string) {
	if at, known := slices.BinarySearch(f.seen, constant); !known {
		f.seen = slices.Insert(f.seen, at, constant)
	}
}

// Inputs are the values that an input has by a tree's schema, with what was seen of each. Random rules are written over
// them, so that a value which is new in the schema is read by them without a change here.
type Inputs struct{ root value }

// NewInputs reads the schema of a tree's input, and what random questions hold.
func NewInputs(tb testing.TB, tree fs.FS) *Inputs {
	tb.Helper()
	var schema map[string]any
	text, err := fs.ReadFile(tree, "schemas/input/schema.json")
	if err == nil {
		err = json.Unmarshal(text, &schema)
	}
	if err != nil {
		tb.Fatal(err)
	}
	in := &Inputs{value{"input", formOf(schema)}}
	r := NewRandom(0, 0)
	for range 300 {
		ask := r.Ask()
		of := question.Of(&ask.Question)
		input, err := ast.JSON(of.Term(question.All()).Value)
		if err != nil {
			tb.Fatal(err)
		}
		in.root.see(input)
	}
	return in
}

// plain returns the values of a kind that a rule can name, without going through a list or a table.
func (in *Inputs) plain(kind string) (out []value) {
	var walk func(value)
	walk = func(v value) {
		if v.kind == kind {
			out = append(out, v)
		}
		for _, name := range slices.Sorted(maps.Keys(v.parts)) {
			walk(value{v.text + "." + name, v.parts[name]})
		}
	}
	walk(in.root)
	return out
}

// few returns some of the values, so that rules over them read little, and read it often.
func (in *Inputs) few(r Random, timed bool) *Inputs {
	var prune func(f *form, most int) *form
	prune = func(f *form, most int) *form {
		if f == nil || f.kind != aPart {
			return f
		}
		names, less := slices.Sorted(maps.Keys(f.parts)), *f
		names = slices.DeleteFunc(names, func(name string) bool { return name == "now" && !timed })
		r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		less.parts = map[string]*form{}
		for _, name := range names[:min(1+r.IntN(most), len(names))] {
			less.parts[name] = prune(f.parts[name], 2)
		}
		return &less
	}
	return &Inputs{value{in.root.text, prune(in.root.form, 3)}}
}
