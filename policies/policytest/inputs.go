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

// The kinds of values in an input.
const (
	aText   = "string"
	aFlag   = "boolean"
	aNumber = "integer"
	aList   = "array"
	aTable  = "table" // an object with any names
	aPart   = "part"  // an object with the names of the schema
)

// form is the schema of one value of the input, with the constants that random questions had there.
type form struct {
	kind  string
	parts map[string]*form // of a part
	each  *form            // of a list or a table
	// seen are sorted constants in Rego's syntax. For a table they are its names.
	seen []string
}

// value is a value of the input with the expression by which a rule reads it.
type value struct {
	text string
	*form
}

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
		for name, property := range properties {
			f.parts[name] = formOf(property.(map[string]any))
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

// see records the constants in a value, so that random rules compare with values of random questions.
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
	if i, exists := slices.BinarySearch(f.seen, constant); !exists {
		f.seen = slices.Insert(f.seen, i, constant)
	}
}

// Inputs are the values of an input by a tree's schema, with the constants that random questions had there. Random
// rules read them, and so they read each new value of the schema without a change here.
type Inputs struct{ root value }

// NewInputs reads the schema of a tree's input, and the constants in 300 random questions.
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
	inputs := &Inputs{value{"input", formOf(schema)}}
	r := NewRandom(0, 0)
	for range 300 {
		ask := r.Ask()
		input, err := ast.JSON(question.Term(&ask.Question, question.AllRows()).Value)
		if err != nil {
			tb.Fatal(err)
		}
		inputs.root.see(input)
	}
	return inputs
}

// plain returns the values of a kind outside lists and tables.
func (inputs *Inputs) plain(kind string) (out []value) {
	var walk func(value)
	walk = func(v value) {
		if v.kind == kind {
			out = append(out, v)
		}
		for _, name := range slices.Sorted(maps.Keys(v.parts)) {
			walk(value{v.text + "." + name, v.parts[name]})
		}
	}
	walk(inputs.root)
	return out
}

// few returns some of the values. Rules over them read few values, each of them often.
func (inputs *Inputs) few(r Random, timed bool) *Inputs {
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
	return &Inputs{value{inputs.root.text, prune(inputs.root.form, 3)}}
}
