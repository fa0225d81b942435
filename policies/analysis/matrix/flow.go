package matrix

import (
	"maps"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Gap is something that rules read and that no table can hold all values of.
type Gap struct {
	// At is the place, file:line; Reads the part of the input; LeftOut the questions that were not asked.
	At      string `json:"at"`
	Reads   string `json:"reads"`
	LeftOut string `json:"left_out"`
}

// flow is what may be in a variable or a rule's value: parts of the input by their paths, without the places of
// arrays; constants by their texts; and the content of data.grants, under the path "grants".
type flow struct {
	paths  map[string]bool
	consts map[string]ast.Value
	// made says that it may be a text made of others, by itself and not in a list or a set.
	made bool
	// built says that a built-in may have made it, or a part of it, so that the constants are not all that it may be.
	built bool
}

func newFlow() *flow { return &flow{paths: map[string]bool{}, consts: map[string]ast.Value{}} }

// add says whether anything was new.
func (f *flow) add(of *flow) bool {
	before, made, built := len(f.paths)+len(f.consts), f.made, f.built
	if f != of {
		maps.Copy(f.paths, of.paths)
		maps.Copy(f.consts, of.consts)
		f.made, f.built = f.made || of.made, f.built || of.built
	}
	return len(f.paths)+len(f.consts) > before || f.made != made || f.built != built
}

// has says whether all of another flow is in it, as where a variable is bound to it.
func (f *flow) has(other *flow) bool {
	for p := range other.paths {
		if !f.paths[p] {
			return false
		}
	}
	for text := range other.consts {
		if f.consts[text] == nil {
			return false
		}
	}
	return true
}

// number says whether it may be a number.
func (f *flow) number() bool {
	for p := range f.paths {
		if numeric(p) {
			return true
		}
	}
	for _, value := range f.consts {
		if _, is := value.(ast.Number); is {
			return true
		}
	}
	return false
}

// keyed returns the parts of a flow that have members with names that the questions give.
func (f *flow) keyed() *flow {
	out := newFlow()
	for p := range f.paths {
		out.paths[p] = keyed(p)
		if !out.paths[p] {
			delete(out.paths, p)
		}
	}
	return out
}

// member returns what the members of that name give.
func (f *flow) member(name string) *flow {
	out := newFlow()
	maps.Copy(out.consts, f.consts)
	out.built = f.built
	for p := range f.paths {
		switch {
		case strings.HasPrefix(p, "subject.assignments") && isAssignmentField(name):
			out.paths["subject.here."+name] = true
			continue
		case p == "grants", keyed(p), strings.HasPrefix(p, "subject.assignments"), strings.Count(p, ".") > 1:
			out.paths[p] = true
			continue
		}
		out.paths[strings.TrimPrefix(p+"."+name, ".")] = true
	}
	return out
}
