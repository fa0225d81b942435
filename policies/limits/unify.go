package limits

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// unify binds the variables of one side without a value to values of the other side, element by element in arrays. OPA
// has ordered the expressions of a body so that the other side has its values.
//
// It rejects two collections with unbound variables on both sides, such as `[x, 1] = [{"x": x}, x]`. OPA would bind x
// to a value with x in it, and the first comparison or print of x would overflow the stack and end the process.
func (w *written) unify(s scope, value, pattern *ast.Term) {
	if s.open(value) {
		value, pattern = pattern, value
	}
	if composite(value) && composite(pattern) && s.open(value) {
		w.cycle()
		return
	}
	x, isX := value.Value.(*ast.Array)
	y, isY := pattern.Value.(*ast.Array)
	if isX && isY && x.Len() == y.Len() {
		for i := range x.Len() {
			w.unify(s, x.Elem(i), y.Elem(i))
		}
		return
	}
	s.bind(pattern, w.term(s, value))
	w.term(s, pattern)
}

// bind binds the unbound variables of a pattern to p.
func (s scope) bind(pattern *ast.Term, p piece) {
	if v, ok := pattern.Value.(ast.Var); ok {
		if _, bound := s[v]; !bound {
			s[v] = p
		}
	}
	for _, t := range membersOf(pattern) {
		s.bind(t, p)
	}
}

// depths has, for each unbound variable, the depths of its places in collections.
type depths map[ast.Var][]int

func (s scope) depths(terms ...*ast.Term) depths {
	out := depths{}
	var walk func(t *ast.Term, depth int)
	walk = func(t *ast.Term, depth int) {
		if v, ok := t.Value.(ast.Var); ok {
			if _, bound := s[v]; !bound {
				out[v] = append(out[v], depth)
			}
		}
		for _, member := range membersOf(t) {
			walk(member, depth+1)
		}
	}
	for _, t := range terms {
		walk(t, 0)
	}
	return out
}

// open reports whether a term has an unbound variable.
func (s scope) open(t *ast.Term) bool { return len(s.depths(t)) > 0 }

// spread reports whether a variable has two places, and whether one has two depths.
func (d depths) spread() (repeated, uneven bool) {
	for _, all := range d {
		repeated = repeated || len(all) > 1
		uneven = uneven || slices.Min(all) != slices.Max(all)
	}
	return repeated, uneven
}

// composite reports whether a term is a literal array, object or set.
func composite(t *ast.Term) bool {
	switch t.Value.(type) {
	case *ast.Array, ast.Object, ast.Set:
		return true
	}
	return false
}

// membersOf returns the members of a collection, and the keys of an object.
func membersOf(t *ast.Term) (all []*ast.Term) {
	switch v := t.Value.(type) {
	case *ast.Array:
		v.Foreach(func(t *ast.Term) { all = append(all, t) })
	case ast.Set:
		v.Foreach(func(t *ast.Term) { all = append(all, t) })
	case ast.Object:
		v.Foreach(func(key, value *ast.Term) { all = append(all, key, value) })
	}
	return all
}

// checkKeys rejects a reference if its unification with the keys of a rule can make a value a part of itself. OPA
// unifies terms at the same depth: a cycle needs a repeated variable in the reference, and a variable at two depths on
// one of the sides.
func (w *written) checkKeys(s scope, ref ast.Ref) {
	node := nodeOf(w.root, ref)
	if node == nil {
		return
	}
	repeated, uneven := s.depths(ref[1:]...).spread()
	if !repeated {
		return
	}
	node.DepthFirst(func(child *ast.TreeNode) bool {
		for _, rule := range child.Values {
			if _, unevenKeys := (scope{}).depths(keysOf(rule.Head)...).spread(); uneven || unevenKeys {
				w.cycle()
			}
		}
		return w.err != nil
	})
}

func (w *written) cycle() {
	w.problem("a value can be made a part of itself here: take the collections apart, and give each variable its value in an " +
		"expression of its own")
}

// keysOf returns the keys of a rule below the constant part of its name.
func keysOf(head *ast.Head) []*ast.Term {
	keys := slices.Clone([]*ast.Term(head.Ref()[len(head.Ref().GroundPrefix()):]))
	if head.RuleKind() == ast.MultiValue && head.Key != nil {
		keys = append(keys, head.Key)
	}
	return keys
}
