package compare

import (
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// shape says what is known of a value.
type shape uint8

const (
	// plain is a value of columns and constants. OPA evaluates each combination of these, whatever is done with them.
	plain shape = iota
	// open is the value of an open part of the input, or the name of a member of one.
	open
	// members is a part of the input that has members by open names.
	members
	// assignments is input.subject.here, assignment one of it.
	assignments
	assignment
	// systemRole is what data.grants has for the role of an assignment.
	systemRole
	// list, object and elements hold other values. Elements are a rule's or a comprehension's that goes through open members.
	list
	object
	elements
	// size is the number of members of a set or a part.
	size
	// printed is a text for people, or one of several values: it may be told, and says by itself no more than that it is there.
	printed
	// unknown is a value of which any use is a gap.
	unknown
)

// value is what a term may be in some evaluation.
type value struct {
	shape
	// paths are the parts of the input of which an open value may be, or whose members these are.
	paths []string
	// consts are the texts and numbers in a plain value. made says that a built-in may have made others.
	consts map[string]ast.Value
	made   bool
	// items are those of a list, or what the elements of a set may be.
	items []*value
	// named are the members of an object.
	named map[string]*value
	// needs are, of a set, those of an element, and of another value those of its being this one and no other.
	needs needs
}

// needs says how few assignments keep a condition as it is, whichever of the others are taken away: yes of them keep it true,
// no of them keep it false. A condition that some assignment meets stays true with that one, and stays false with none.
type needs struct{ yes, no int }

func (n needs) not() needs { return needs{n.no, n.yes} }

// and returns what keeps two conditions that hold together.
func (n needs) and(other needs) needs { return needs{n.yes + other.yes, max(n.no, other.no)} }

// or returns what keeps two conditions of which one is enough.
func (n needs) or(other needs) needs { return needs{max(n.yes, other.yes), n.no + other.no} }

// whole returns what keeps a value that may be any.
func (n needs) whole() needs { return needs{max(n.yes, n.no), max(n.yes, n.no)} }

func constant(v ast.Value) *value {
	out := &value{consts: map[string]ast.Value{}}
	ast.WalkTerms(ast.NewTerm(v), func(t *ast.Term) bool {
		switch v := t.Value.(type) {
		case ast.String, ast.Number, ast.Boolean, ast.Null:
			out.consts[v.String()] = v
		}
		return false
	})
	return out
}

// truth is a value that is true or false.
func truth() *value {
	return &value{consts: map[string]ast.Value{"true": ast.Boolean(true), "false": ast.Boolean(false)}}
}

func words(texts []string) *value {
	out := &value{consts: map[string]ast.Value{}}
	for _, text := range texts {
		out.consts[ast.String(text).String()] = ast.String(text)
	}
	return out
}

func openAt(paths ...string) *value { return &value{shape: open, paths: paths} }

func (v *value) isAt(path string) bool {
	return (v.shape == open || v.shape == members) && len(v.paths) == 1 && v.paths[0] == path
}

// isPlain says whether a value is made of columns and constants, also in its parts.
func (v *value) isPlain() bool {
	for _, item := range v.items {
		if !item.isPlain() {
			return false
		}
	}
	for _, member := range v.named {
		if !member.isPlain() {
			return false
		}
	}
	return v.needs == (needs{}) && (v.shape == plain || v.shape == list || v.shape == object || v.shape == elements)
}

// flat returns a plain value with the constants of all its parts.
func (v *value) flat() *value {
	out := &value{consts: maps.Clone(v.consts), made: v.made}
	if out.consts == nil {
		out.consts = map[string]ast.Value{}
	}
	for _, part := range slices.Concat(v.items, slices.Collect(maps.Values(v.named))) {
		flat := part.flat()
		maps.Copy(out.consts, flat.consts)
		out.made = out.made || flat.made
	}
	return out
}

// join returns what is one of two values.
func join(a, b *value) *value {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.needs != b.needs:
		x, y := *a, *b
		x.needs = a.needs.or(b.needs)
		y.needs = x.needs
		return join(&x, &y)
	case a.isPlain() && b.isPlain():
		out, flat := a.flat(), b.flat()
		maps.Copy(out.consts, flat.consts)
		out.made = out.made || flat.made
		return out
	case a.shape != b.shape:
		if a.isPrintable() && b.isPrintable() {
			return &value{shape: printed, needs: a.needs}
		}
		return &value{shape: unknown}
	}
	switch a.shape {
	case open, members:
		paths := slices.Concat(a.paths, b.paths)
		slices.Sort(paths)
		return &value{shape: a.shape, paths: slices.Compact(paths), needs: a.needs}
	case elements:
		return &value{shape: elements, items: slices.Concat(a.items, b.items), needs: a.needs}
	case list, object:
		return joinParts(a, b)
	case assignment, systemRole, size, printed:
		return &value{shape: a.shape, needs: a.needs}
	}
	return &value{shape: unknown}
}

// joinParts returns what is one of two lists or of two objects.
func joinParts(a, b *value) *value {
	if len(a.items) != len(b.items) || len(a.named) != len(b.named) {
		return &value{shape: unknown}
	}
	out := &value{shape: a.shape, named: map[string]*value{}, consts: maps.Clone(a.consts), made: a.made || b.made, needs: a.needs}
	if out.consts != nil {
		maps.Copy(out.consts, b.consts)
	}
	for i := range a.items {
		out.items = append(out.items, join(a.items[i], b.items[i]))
	}
	for name := range a.named {
		if b.named[name] == nil {
			return &value{shape: unknown}
		}
		out.named[name] = join(a.named[name], b.named[name])
	}
	return out
}

// isTold says whether a value is one that reasons are made of.
func (v *value) isPrintable() bool { return v.shape == plain || v.shape == printed || v.shape == open }

// chosen returns one of several values, of which nothing says which.
func (v *value) chosen() *value {
	switch {
	case v.isPlain():
		return v.flat()
	case v.shape == list:
		out := &value{shape: list}
		for range v.items {
			out.items = append(out.items, &value{shape: printed})
		}
		return out
	}
	return &value{shape: printed}
}
