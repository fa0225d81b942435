package compare

import (
	"cmp"
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// shape is what the analyzer knows about a value.
type shape uint8

const (
	// plain is a value made of columns and constants. OPA evaluates each combination of these, so every use is
	// followed.
	plain shape = iota
	// open is the value of an open part of the input, or the name of a member of one.
	open
	// members is a part of the input with members under open names.
	members
	// assignments is input.subject.here, assignment one of its elements.
	assignments
	assignment
	// systemRole is the member of data.grants under the role of an assignment.
	systemRole
	// list, object and elements hold other values. elements is a set from a rule or a comprehension.
	list
	object
	elements
	// size is the number of members of a set or of a part.
	size
	// printed is a text for people, or one of several values. A rule may put it into a reason and test its presence;
	// any other use is a gap.
	printed
	// unknown is a value whose every use is a gap.
	unknown
)

// value is an abstract value: what a term may evaluate to, over all questions.
type value struct {
	shape
	// paths are the parts of the input from which an open value, or the members, may come.
	paths []string
	// consts are the constants in a plain value, by their texts. made says that a built-in may produce others.
	consts map[string]ast.Value
	made   bool
	// items are the items of a list, or the possible elements of a set.
	items []*value
	// named are the members of an object.
	named map[string]*value
	// needs of a set are the needs of an element in it. needs of another value are those of its having this value.
	needs needs
}

// needs counts the assignments held, and the permissions to grant, that suffice to keep a condition as it is.
type needs struct{ held, granted count }

// count says how many of some things suffice to keep a condition as it is when all others are removed: yes of them keep
// it true, no of them keep it false. For "some assignment has role R", yes is 1 (a matching one keeps it true) and no
// is 0 (it is false without assignments).
type count struct{ yes, no int }

// not returns the needs of the negated condition.
func (n needs) not() needs { return needs{n.held.not(), n.granted.not()} }

func (n count) not() count { return count{n.no, n.yes} }

// and returns the needs of two conditions that must both hold.
func (n needs) and(other needs) needs { return n.not().or(other.not()).not() }

// or returns the needs of two conditions when either is enough.
func (n needs) or(other needs) needs {
	return needs{n.held.or(other.held), n.granted.or(other.granted)}
}

func (n count) or(other count) count { return count{max(n.yes, other.yes), n.no + other.no} }

// orElse returns the needs of choosing one of some branches, or else the next one: it is chosen if they are not.
func (n needs) orElse(next needs) needs {
	return needs{n.held.orElse(next.held), n.granted.orElse(next.granted)}
}

func (n count) orElse(next count) count { return count{max(n.yes, next.yes+n.no), n.no + next.no} }

// either returns the needs of keeping a value of either kind: the larger count for both.
func (n needs) either() needs { return needs{n.held.either(), n.granted.either()} }

func (n count) either() count { return count{max(n.yes, n.no), max(n.yes, n.no)} }

// beside returns how many things a question needs at which one condition holds and the other does not.
func (n count) beside(other count) int { return max(n.yes+other.no, other.yes+n.no) }

// constant returns a plain value with the scalars of a constant, also of its nested ones.
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

// truth returns the plain value that is true or false.
func truth() *value {
	return &value{consts: map[string]ast.Value{"true": ast.Boolean(true), "false": ast.Boolean(false)}}
}

// words returns the plain value that is one of the texts.
func words(texts []string) *value {
	out := &value{consts: map[string]ast.Value{}}
	for _, text := range texts {
		out.consts[ast.String(text).String()] = ast.String(text)
	}
	return out
}

// openAt returns an open value that comes from one of the paths.
func openAt(paths ...string) *value { return &value{shape: open, paths: paths} }

// isAt says whether an open value, or a part with members, comes from this path alone.
func (v *value) isAt(path string) bool {
	return (v.shape == open || v.shape == members) && len(v.paths) == 1 && v.paths[0] == path
}

// isPlain says whether a value and all its parts are made of columns and constants, without needs.
func (v *value) isPlain() bool {
	return allPlain(v.parts()) && v.needs == (needs{}) && (v.shape == plain || v.shape == list || v.shape == object || v.shape == elements)
}

// allPlain says whether all values are plain.
func allPlain(values []*value) bool {
	return !slices.ContainsFunc(values, func(v *value) bool { return !v.isPlain() })
}

// parts returns the items of a value and the members of an object.
func (v *value) parts() []*value {
	return slices.AppendSeq(slices.Clone(v.items), maps.Values(v.named))
}

// flat returns one value with the constants of a value and of all its parts. It is made by a built-in if any of them is.
func (v *value) flat() *value {
	out := &value{consts: maps.Clone(v.consts), made: v.made}
	if out.consts == nil {
		out.consts = map[string]ast.Value{}
	}
	for _, part := range v.parts() {
		flat := part.flat()
		maps.Copy(out.consts, flat.consts)
		out.made = out.made || flat.made
	}
	return out
}

// join returns the value that is one of two. It is unknown if their shapes have no common description.
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

// joined returns the value that is one of the items; plain without constants if there are none.
func joined(items []*value) *value {
	out := (*value)(nil)
	for _, item := range items {
		out = join(out, item)
	}
	return cmp.Or(out, &value{})
}

// joinParts returns the value that is one of two lists or one of two objects, item by item.
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

// isPrintable says whether a rule may put the value into a reason.
func (v *value) isPrintable() bool { return v.shape == plain || v.shape == printed || v.shape == open }

// chosen returns one of several values when the analyzer cannot say which one.
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
