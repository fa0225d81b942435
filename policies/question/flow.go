package question

import (
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// flow is what a value in a rule may be or hold. A collection and its elements are one flow.
type flow struct {
	// labels are the paths of the texts and open values that it may be, made those of which a built-in has made it.
	labels, made map[string]bool
	consts       map[string]ast.Value
	// documents are values of data and of constant rules, of which members can be looked up.
	documents map[string]ast.Value
	// unknown says that it may be a value that is not written down, as what a built-in makes of constants.
	unknown bool
	// counted are the paths of which it may be the number.
	counted map[string]bool
	// items are the elements of arrays of one length, fields the members of objects by constant names; nil for anything else.
	items  []*flow
	fields map[string]*flow
}

func newFlow() *flow {
	return &flow{labels: map[string]bool{}, made: map[string]bool{}, consts: map[string]ast.Value{}, documents: map[string]ast.Value{}, counted: map[string]bool{}}
}

func labelled(path string) *flow {
	f := newFlow()
	f.labels[path] = true
	return f
}

// constant returns the flow of a value that is written down, with all scalars in it.
func constant(v ast.Value) *flow {
	f := newFlow()
	f.document(v)
	return f
}

// document adds a value of which members can be looked up.
func (f *flow) document(v ast.Value) {
	switch v := v.(type) {
	case ast.String, ast.Number:
		f.consts[v.String()] = v
	case ast.Object, *ast.Array, ast.Set:
		f.documents[v.String()] = v
	}
}

// scalars returns all constants, those in documents as well.
func (f *flow) scalars() map[string]ast.Value {
	out := maps.Clone(f.consts)
	for _, document := range f.documents {
		ast.WalkTerms(ast.NewTerm(document), func(t *ast.Term) bool {
			switch t.Value.(type) {
			case ast.String, ast.Number:
				out[t.Value.String()] = t.Value
			}
			return false
		})
	}
	for _, part := range f.parts() {
		maps.Copy(out, part.scalars())
	}
	return out
}

// parts are the items and the fields.
func (f *flow) parts() []*flow {
	return slices.AppendSeq(slices.Clone(f.items), maps.Values(f.fields))
}

// all returns a flow and its parts as one.
func (f *flow) all() *flow {
	out := newFlow()
	out.merge(f)
	for _, part := range f.parts() {
		out.merge(part.all())
	}
	return out
}

// add adds all that another flow may be, and says whether something is new.
func (f *flow) add(other *flow) bool {
	before := f.size()
	switch {
	case other == nil || f == other:
		return false
	case f.items == nil && before == 0 && other.items != nil:
		for range other.items {
			f.items = append(f.items, newFlow())
		}
	case other.items != nil && len(other.items) != len(f.items):
		f.merge(other.all())
	}
	f.merge(other)
	if len(other.items) == len(f.items) {
		for i, item := range other.items {
			f.items[i].add(item)
		}
	}
	for name, field := range other.fields {
		if f.fields == nil {
			f.fields = map[string]*flow{}
		}
		if f.fields[name] == nil {
			f.fields[name] = newFlow()
		}
		f.fields[name].add(field)
	}
	return f.size() > before
}

func (f *flow) merge(other *flow) {
	maps.Copy(f.labels, other.labels)
	maps.Copy(f.made, other.made)
	maps.Copy(f.consts, other.consts)
	maps.Copy(f.documents, other.documents)
	maps.Copy(f.counted, other.counted)
	f.unknown = f.unknown || other.unknown
}

func (f *flow) size() int {
	n := len(f.labels) + len(f.made) + len(f.consts) + len(f.documents) + len(f.counted)
	if f.unknown {
		n++
	}
	for _, part := range f.parts() {
		n += 1 + part.size()
	}
	return n
}

// texts are the paths of all texts of which it may be made, whole or in part.
func (f *flow) texts() map[string]bool {
	of := f.all()
	maps.Copy(of.labels, of.made)
	return of.labels
}

// members returns what may stand at a key, and compares a key that is not constant with those that there are.
func (f *follower) members(of *flow, key *ast.Term) *flow {
	out := newFlow()
	name, isConst := key.Value.(ast.String)
	keys := newFlow()
	for _, document := range of.documents {
		found := func(k, v *ast.Term) {
			keys.document(k.Value)
			if !isConst || k.Value.Compare(name) == 0 {
				out.document(v.Value)
			}
		}
		switch v := document.(type) {
		case ast.Object:
			v.Foreach(found)
		case ast.Set:
			v.Foreach(func(t *ast.Term) { found(t, t) })
		case *ast.Array:
			v.Foreach(func(t *ast.Term) { out.document(t.Value) })
		}
	}
	rest := newFlow()
	rest.merge(of)
	clear(rest.documents)
	if n, isNumber := key.Value.(ast.Number); isNumber && of.items != nil {
		if i, ok := n.Int(); ok && i >= 0 && i < len(of.items) {
			out.add(of.items[i])
			return out
		}
	}
	for _, item := range of.items {
		rest.merge(item.all())
	}
	out.merge(rest)
	keys.merge(rest)
	for field, value := range of.fields {
		keys.document(ast.String(field))
		if !isConst || field == string(name) {
			out.add(value)
		}
	}
	f.bind(key, keys)
	return out
}
