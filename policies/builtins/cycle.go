package builtins

import (
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// CheckCycles is a stage of OPA's compiler, after it has written references in terms out as expressions of their own. The
// error is of an expression that can make a value a part of itself, as `[x, 1] = [{"x": x}, x]`: OPA binds x all the same,
// and writes it out or compares it until the stack overflows, which ends the process.
//
// Outside such an expression each variable has a value or none before and a whole value after. So it takes two written
// collections that are unified, be it by `=` or by a key of a rule.
func CheckCycles(c *ast.Compiler) *ast.Error {
	for _, file := range slices.Sorted(maps.Keys(c.Modules)) {
		for _, rule := range c.Modules[file].Rules {
			for branch := rule; branch != nil; branch = branch.Else {
				if err := (&cycles{root: c.RuleTree, one: alike(branch.Head), at: branch.Location}).check(branch); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// cycles is the check of one branch of a rule.
type cycles struct {
	root *ast.TreeNode
	// one has variables that may be the same one: those in the keys of a rule, as data.p[[y, y]] asks for the key [a, b].
	one map[ast.Var]bool
	at  *ast.Location
	err *ast.Error
}

// alike returns the variables of a head's keys, where there are several.
func alike(head *ast.Head) map[ast.Var]bool {
	vars := map[ast.Var]bool{}
	if len(head.Args) > 0 {
		return vars // operands are whole values
	}
	for _, key := range keysOf(head) {
		ast.WalkVars(key, func(v ast.Var) bool {
			vars[v] = true
			return false
		})
	}
	if len(vars) < 2 {
		clear(vars)
	}
	return vars
}

// keysOf returns the keys below the document of a rule.
func keysOf(head *ast.Head) []*ast.Term {
	keys := slices.Clone([]*ast.Term(head.Ref()[len(head.Ref().GroundPrefix()):]))
	if head.RuleKind() == ast.MultiValue && head.Key != nil {
		keys = append(keys, head.Key)
	}
	return keys
}

// check returns the first expression of the branch that can make a value a part of itself.
func (c *cycles) check(rule *ast.Rule) *ast.Error {
	ast.WalkExprs(rule, func(expr *ast.Expr) bool {
		if expr.Location != nil && expr.Location.File != "" {
			c.at = expr.Location
		}
		if terms, isCall := expr.Terms.([]*ast.Term); isCall && len(terms) == 3 && Name(expr.Operator()) == "eq" {
			c.unify([2]*ast.Term{terms[1], terms[2]})
		}
		return c.err != nil
	})
	c.at = rule.Location
	ast.WalkRefs(rule, func(ref ast.Ref) bool {
		c.keys(ref)
		return c.err != nil
	})
	return c.err
}

// keys unifies the keys that a reference asks for with those of the rules that it can mean.
func (c *cycles) keys(ref ast.Ref) {
	node := meant(c.root, ref)
	if node == nil || !slices.ContainsFunc(ref, func(part *ast.Term) bool { return collection(part) && !part.IsGround() }) {
		return
	}
	if ref[0].Location != nil && ref[0].Location.File != "" {
		c.at = ref[0].Location
	}
	node.DepthFirst(func(below *ast.TreeNode) bool {
		for _, rule := range below.Values {
			keys, from := keysOf(rule.Head), len(rule.Ref().GroundPrefix())
			var asked [][2]*ast.Term
			for i := 0; i < len(keys) && from+i < len(ref); i++ {
				asked = append(asked, [2]*ast.Term{ref[from+i], keys[i]})
			}
			c.unifyWith(1, asked...)
		}
		return c.err != nil
	})
}

// unify unifies what two terms of one body have in common, where both are collections.
func (c *cycles) unify(pair [2]*ast.Term) {
	if collection(pair[0]) && collection(pair[1]) {
		c.unifyWith(0, pair)
	}
}

func collection(t *ast.Term) bool {
	switch t.Value.(type) {
	case *ast.Array, ast.Object:
		return true
	}
	return false
}

// unifyWith unifies pairs of terms, the second of which are of that side: 0 is this body, 1 another rule.
func (c *cycles) unifyWith(side int, pairs ...[2]*ast.Term) {
	u := unifier{bound: map[variable]sided{}, seen: map[[2]sided]bool{}, one: c.one}
	for _, pair := range pairs {
		u.unify(sided{pair[0], 0}, sided{pair[1], side})
	}
	if u.cycle && c.err == nil {
		c.err = ast.NewError(limitErr, c.at, "a value can be made a part of itself here, which no value is: take the collections "+
			"apart, and give each variable its value in an expression of its own")
	}
}

// unifier unifies terms as OPA does, and looks for cycles, which OPA does not. What has no variables is not compared.
type unifier struct {
	bound map[variable]sided
	seen  map[[2]sided]bool
	one   map[ast.Var]bool
	cycle bool
}

// sided is a term of one of two rules, whose variables are not the same.
type sided struct {
	term *ast.Term
	side int
}

type variable struct {
	name ast.Var
	side int
}

// variable returns what a term is, where it is a variable.
func (u *unifier) variable(t sided) (v variable, is bool) {
	name, is := t.term.Value.(ast.Var)
	if is && t.side == 0 && u.one[name] {
		name = "one of the keys"
	}
	return variable{name, t.side}, is
}

// resolve returns what a variable is bound to.
func (u *unifier) resolve(t sided) sided {
	for {
		v, is := u.variable(t)
		to, known := u.bound[v]
		if !is || !known {
			return t
		}
		t = to
	}
}

func (u *unifier) unify(a, b sided) {
	a, b = u.resolve(a), u.resolve(b)
	if u.cycle || u.seen[[2]sided{a, b}] {
		return
	}
	u.seen[[2]sided{a, b}] = true
	va, isA := u.variable(a)
	vb, isB := u.variable(b)
	switch {
	case isA && isB && va == vb:
		return
	case isA:
		u.cycle = u.cycle || u.occurs(va, b)
		u.bound[va] = b
		return
	case isB:
		u.unify(b, a)
		return
	}
	switch x := a.term.Value.(type) {
	case *ast.Array:
		if y, ok := b.term.Value.(*ast.Array); ok && x.Len() == y.Len() {
			for i := range x.Len() {
				u.unify(sided{x.Elem(i), a.side}, sided{y.Elem(i), b.side})
			}
		}
	case ast.Object:
		if y, ok := b.term.Value.(ast.Object); ok {
			u.objects(x, y, a.side, b.side)
		}
	}
}

// objects unifies the values at equal keys, and at keys that can be equal.
func (u *unifier) objects(x, y ast.Object, sideX, sideY int) {
	x.Foreach(func(key, value *ast.Term) {
		if other := y.Get(key); other != nil && key.IsGround() {
			u.unify(sided{value, sideX}, sided{other, sideY})
			return
		}
		y.Foreach(func(otherKey, other *ast.Term) {
			if !key.IsGround() || !otherKey.IsGround() {
				u.unify(sided{value, sideX}, sided{other, sideY})
			}
		})
	})
}

// occurs says whether a variable is a part of a collection.
func (u *unifier) occurs(v variable, in sided) (found bool) {
	if !collection(in.term) {
		return false
	}
	ast.WalkTerms(in.term, func(t *ast.Term) bool {
		switch t.Value.(type) {
		case ast.Var:
			of := u.resolve(sided{t, in.side})
			at, is := u.variable(of)
			found = found || is && at == v || !is && u.occurs(v, of)
		case ast.Ref, ast.Set, *ast.ArrayComprehension, *ast.SetComprehension, *ast.ObjectComprehension:
			return true // is evaluated by itself
		}
		return found
	})
	return found
}
