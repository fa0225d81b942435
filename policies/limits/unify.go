package limits

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// unify gives each variable that has no value yet that of the other side, element by element, whichever is known first.
func (w *written) unify(s scope, a, b *ast.Term) {
	if composite(a) && composite(b) {
		w.checkCycle(s, a, b)
	}
	left := pairs(a, b)
	for before := -1; len(left) != before && w.err == nil; {
		before = len(left)
		left = slices.DeleteFunc(left, func(p [2]*ast.Term) bool {
			for i := range 2 {
				if len(s.unknown(p[i])) == 0 {
					s.bind(p[1-i], w.term(s, p[i]))
					w.term(s, p[1-i])
					return true
				}
			}
			return false
		})
	}
	for _, p := range left { // of variables that get their values later
		w.term(s, p[0])
		w.term(s, p[1])
	}
}

// pairs returns the pairs of terms that are unified where two are.
func pairs(a, b *ast.Term) (out [][2]*ast.Term) {
	x, isX := a.Value.(*ast.Array)
	y, isY := b.Value.(*ast.Array)
	if isX && isY && x.Len() == y.Len() {
		for i := range x.Len() {
			out = append(out, pairs(x.Elem(i), y.Elem(i))...)
		}
		return out
	}
	return [][2]*ast.Term{{a, b}}
}

// variables are how deep variables stand in collections. One that stands at several depths is uneven.
type variables struct {
	depths           map[ast.Var]int
	uneven, repeated bool
}

// add adds the variables of a term that stands so deep, but for those that have whole values.
func (vs *variables) add(t *ast.Term, depth int, known scope) {
	if v, ok := t.Value.(ast.Var); ok {
		if _, has := known[v]; !has {
			vs.note(v, depth)
		}
	}
	for _, t := range membersOf(t) {
		vs.add(t, depth+1, known)
	}
}

func (vs *variables) note(v ast.Var, depth int) {
	if vs.depths == nil {
		vs.depths = map[ast.Var]int{}
	}
	at, there := vs.depths[v]
	vs.depths[v], vs.repeated, vs.uneven = depth, vs.repeated || there, vs.uneven || there && at != depth
}

// unknown returns the variables of a term that have no value.
func (s scope) unknown(t *ast.Term) map[ast.Var]int {
	var vs variables
	vs.add(t, 0, s)
	return vs.depths
}

// composite says whether a term is a collection that is written with its members.
func composite(t *ast.Term) bool {
	switch t.Value.(type) {
	case *ast.Array, ast.Object, ast.Set:
		return true
	}
	return false
}

// membersOf returns the members of a collection, of an object also the keys.
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

// checkCycle refuses two collections of which the unification can make a value a part of itself, as `[x, 1] = [{"x": x}, x]`:
// OPA binds x all the same, and writes it out or compares it until the stack overflows, which ends the process.
//
// Terms are unified with those that stand as deep. So no variable becomes a part of itself where each stands at one depth
// alone; nor where one side has each of its variables once, and the other side has none of them.
func (w *written) checkCycle(s scope, a, b *ast.Term) {
	var x, y variables
	x.add(a, 0, s)
	y.add(b, 0, s)
	w.asOne(&x)
	w.asOne(&y)
	both, shared := x, false
	both.depths = nil
	for _, side := range []variables{x, y} {
		for v, depth := range side.depths {
			if _, there := both.depths[v]; there {
				shared = true
			}
			both.note(v, depth)
		}
	}
	both.uneven = both.uneven || y.uneven
	if both.uneven && (shared || x.repeated && y.repeated) {
		w.cycle()
	}
}

// asOne has the variables in the keys of a rule be one, since they can be: data.p[[y, y]] asks for the key [a, b]. One that
// stands deeper in the keys is a part of what stands above.
func (w *written) asOne(vs *variables) {
	if len(w.keys.depths) < 2 {
		return
	}
	all := *vs
	all.depths = nil
	for v, depth := range vs.depths {
		if in, isKey := w.keys.depths[v]; isKey {
			v, depth = "the keys", depth-in
		}
		all.note(v, depth)
	}
	*vs = all
}

// checkKeys refuses a reference that asks for keys which are collections of variables, where their unification with the
// keys of a rule can make a value a part of itself. What a rule makes of its keys then is checkCycle's.
func (w *written) checkKeys(s scope, ref ast.Ref) {
	node := meant(w.root, ref)
	if node == nil {
		return
	}
	var asked variables
	deep := false
	for _, t := range ref[1:] {
		asked.add(t, 0, s)
		deep = deep || composite(t) && len(s.unknown(t)) > 0
	}
	if !deep || !asked.repeated {
		return
	}
	node.DepthFirst(func(below *ast.TreeNode) bool {
		for _, rule := range below.Values {
			var keys variables
			for _, key := range keysOf(rule.Head) {
				keys.add(key, 0, nil)
			}
			if asked.uneven || keys.uneven && keys.repeated {
				w.cycle()
			}
		}
		return w.err != nil
	})
}

func (w *written) cycle() {
	w.problem("a value can be made a part of itself here, which no value is: take the collections apart, and give each variable " +
		"its value in an expression of its own")
}

// keysOf returns the keys below the document of a rule.
func keysOf(head *ast.Head) []*ast.Term {
	keys := slices.Clone([]*ast.Term(head.Ref()[len(head.Ref().GroundPrefix()):]))
	if head.RuleKind() == ast.MultiValue && head.Key != nil {
		keys = append(keys, head.Key)
	}
	return keys
}
