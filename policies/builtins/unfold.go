package builtins

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/types"
)

// Bounds of what a literal unfolds to, and of the expressions that are looked at for it: those of a function once for each
// form of its operands.
const (
	maxUnfolded = 100_000
	maxLooked   = 5_000_000
)

// CheckUnfolded is a stage of OPA's compiler, before it checks types. The error is of a literal that unfolds to too much.
// OPA writes out what the variables of a literal stand for whenever it needs the value, and nothing stops it meanwhile; it
// writes out types in the same way. So `b := [a, a]`, `c := [b, b]` and so on, be they variables or rules, double at each step.
func CheckUnfolded(c *ast.Compiler) *ast.Error {
	u := unfolding{
		root: c.RuleTree, leaf: &unfolded{size: 1, open: 1}, scalar: &unfolded{id: -1, size: 1}, known: map[string]*unfolded{}, nodes: map[*ast.TreeNode]*unfolded{}, calls: map[string]*unfolded{},
		replaced: map[*ast.TreeNode]bool{}, factor: 1,
	}
	for _, module := range c.Modules {
		ast.WalkWiths(module, func(with *ast.With) bool {
			u.replace(with.Target)
			return false
		})
	}
	for _, file := range slices.Sorted(maps.Keys(c.Modules)) {
		for _, rule := range c.Modules[file].Rules {
			u.rule(rule, nil)
		}
	}
	return u.err
}

// unfolding goes through the rules as an evaluation does.
type unfolding struct {
	root *ast.TreeNode
	// leaf is what is there already, scalar what can be no collection.
	leaf, scalar *unfolded
	// known are the values by what is in them, so that equal ones are one.
	known map[string]*unfolded
	nodes map[*ast.TreeNode]*unfolded
	calls map[string]*unfolded
	// replaced are the rules in whose place a `with` puts something.
	replaced map[*ast.TreeNode]bool
	looked   int
	// factor is how large the largest value is that a `with` puts in the place of one that is there already.
	factor int
	at     *ast.Location
	err    *ast.Error
}

// replace notes the rules in whose place a `with` puts something.
func (u *unfolding) replace(target *ast.Term) {
	if ref, ok := target.Value.(ast.Ref); ok {
		if node := meant(u.root, ref); node != nil {
			node.DepthFirst(func(below *ast.TreeNode) bool {
				u.replaced[below] = true
				return false
			})
		}
	}
}

// forms returns what a rule can be, where those are its own forms.
func (u *unfolding) forms(node *ast.TreeNode, own []*unfolded) *unfolded {
	if u.replaced[node] {
		own = append(own, u.leaf)
	}
	return u.either(own)
}

// scope has the values of variables, and is within another one.
type scope struct {
	own   map[ast.Var]*unfolded
	outer *scope
}

func (s *scope) within() *scope { return &scope{own: map[ast.Var]*unfolded{}, outer: s} }

// get returns nil for a variable without a value.
func (s *scope) get(v ast.Var) *unfolded {
	for ; s != nil; s = s.outer {
		if value := s.own[v]; value != nil {
			return value
		}
	}
	return nil
}

// knows says whether all variables of a term have values. Those of a comprehension may be its own.
func (s *scope) knows(t *ast.Term) bool {
	known := true
	ast.WalkTerms(t, func(x *ast.Term) bool {
		switch v := x.Value.(type) {
		case ast.Var:
			known = known && s.get(v) != nil
		case ast.Ref, *ast.ArrayComprehension, *ast.SetComprehension, *ast.ObjectComprehension:
			return true
		}
		return !known
	})
	return known
}

// problem tells the first problem, where the walk ends.
func (u *unfolding) problem(format string, args ...any) {
	if u.err == nil {
		u.err = ast.NewError(limitErr, u.at, format, args...)
	}
}

// rule returns the value of a rule with all its branches, for operands of these forms.
func (u *unfolding) rule(rule *ast.Rule, args []*unfolded) *unfolded {
	defer func(was *ast.Location) { u.at = was }(u.at)
	var found []*unfolded
	for branch := rule; branch != nil && u.err == nil; branch = branch.Else {
		u.at = branch.Location
		s := (*scope)(nil).within()
		for i := range min(len(args), len(branch.Head.Args)) {
			u.bind(s, branch.Head.Args[i], args[i])
		}
		u.body(s, branch.Body)
		found = append(found, u.head(s, branch.Head))
	}
	return u.either(found)
}

// head returns what a branch adds to the document of its rule.
func (u *unfolding) head(s *scope, head *ast.Head) *unfolded {
	value := u.leaf
	switch {
	case head.RuleKind() == ast.MultiValue && head.Key != nil:
		value = u.made(nil, []*unfolded{u.term(s, head.Key)})
	case head.Value != nil:
		value = u.term(s, head.Value)
	}
	if len(head.Args) == 0 {
		for range len(head.Ref()) - len(head.Ref().GroundPrefix()) {
			value = u.made(nil, []*unfolded{value})
		}
	}
	return value
}

// body goes through expressions in the order in which they are evaluated.
func (u *unfolding) body(s *scope, body ast.Body) {
	defer func(was *ast.Location) { u.at = was }(u.at)
	for _, expr := range body {
		if u.looked++; u.looked > maxLooked {
			u.problem("functions are called with too many forms of operands to be looked at: call fewer of them, or hand over less")
		}
		if u.err != nil {
			return
		}
		if expr.Location != nil && expr.Location.File != "" {
			u.at = expr.Location
		}
		was, largest := u.factor, 1
		for _, with := range expr.With {
			largest = max(largest, u.term(s, with.Value).size)
		}
		u.factor = min(was*largest, maxUnfolded)
		u.expr(s, expr)
		u.factor = was
	}
}

func (u *unfolding) expr(s *scope, expr *ast.Expr) {
	if expr.Negated {
		s = s.within()
	}
	switch terms := expr.Terms.(type) {
	case *ast.Term:
		u.term(s, terms)
	case []*ast.Term:
		u.call(s, terms)
	case *ast.Every:
		each := s.within()
		u.bind(each, terms.Value, u.member(u.term(s, terms.Domain), nil))
		u.body(each, terms.Body)
	case *ast.Not:
		u.body(s.within(), terms.Body)
	case *ast.LogicalAnd:
		u.body(s, terms.Lhs)
		u.body(s, terms.Rhs)
	case *ast.LogicalOr:
		u.body(s.within(), terms.Lhs)
		u.body(s.within(), terms.Rhs)
	}
}

// call goes through an expression that calls something.
func (u *unfolding) call(s *scope, terms []*ast.Term) {
	operator, isRef := terms[0].Value.(ast.Ref)
	operands := terms[1:]
	if !isRef {
		return
	}
	name := Name(operator)
	if name == "eq" && len(operands) == 2 {
		u.unify(s, operands[0], operands[1])
		return
	}
	node, arity, out := meant(u.root, operator), len(operands), u.leaf
	if node != nil && len(node.Values) > 0 {
		arity = len(node.Values[0].Head.Args)
	} else if b := ast.BuiltinMap[name]; b != nil {
		arity = b.Decl.Arity()
		switch b.Decl.Result().(type) {
		case types.String, types.Number, types.Boolean:
			out = u.scalar
		}
	}
	var args []*unfolded
	for _, operand := range operands[:min(arity, len(operands))] {
		args = append(args, u.term(s, operand))
	}
	if node != nil {
		out = u.function(node, args)
	}
	for _, result := range operands[len(args):] {
		u.bind(s, result, u.grown(out))
	}
}

// function returns the value of a function for operands of these forms.
func (u *unfolding) function(node *ast.TreeNode, args []*unfolded) *unfolded {
	key := fmt.Sprintf("%p", node)
	for _, arg := range args {
		key += " " + strconv.Itoa(arg.id)
	}
	if u.calls[key] == nil {
		u.calls[key] = u.leaf // while it is looked at
		var found []*unfolded
		for _, rule := range node.Values {
			found = append(found, u.rule(rule, args))
		}
		u.calls[key] = u.forms(node, found)
	}
	return u.calls[key]
}

// document returns the value of all rules at a node and below it.
func (u *unfolding) document(node *ast.TreeNode) *unfolded {
	if u.nodes[node] == nil {
		u.nodes[node] = u.leaf // while it is looked at
		var found []*unfolded
		for _, rule := range node.Values {
			if len(rule.Head.Args) == 0 {
				found = append(found, u.rule(rule, nil))
			}
		}
		below := map[string]*unfolded{}
		for _, key := range node.Sorted {
			if child := node.Child(key); child != nil {
				below[key.String()] = u.document(child)
			}
		}
		if len(below) > 0 {
			found = append(found, u.made(below, nil))
		}
		u.nodes[node] = u.forms(node, found)
	}
	return u.nodes[node]
}

// unify gives each variable that has no value yet that of the other side, element by element, whichever is known first.
func (u *unfolding) unify(s *scope, a, b *ast.Term) {
	left := pairs(a, b)
	for before := -1; len(left) != before; {
		before = len(left)
		left = slices.DeleteFunc(left, func(p [2]*ast.Term) bool {
			for i := range 2 {
				if s.knows(p[i]) {
					u.bind(s, p[1-i], u.term(s, p[i]))
					u.term(s, p[1-i])
					return true
				}
			}
			return false
		})
	}
	for _, p := range left { // of variables that get their values later
		u.term(s, p[0])
		u.term(s, p[1])
	}
}

// pairs returns the pairs of terms that are unified where two are.
func pairs(a, b *ast.Term) (out [][2]*ast.Term) {
	switch x := a.Value.(type) {
	case *ast.Array:
		if y, ok := b.Value.(*ast.Array); ok && x.Len() == y.Len() {
			for i := range x.Len() {
				out = append(out, pairs(x.Elem(i), y.Elem(i))...)
			}
			return out
		}
	case ast.Object:
		if y, ok := b.Value.(ast.Object); ok {
			x.Foreach(func(key, value *ast.Term) {
				if other := y.Get(key); other != nil {
					out = append(out, pairs(value, other)...)
				}
			})
			return out
		}
	}
	return [][2]*ast.Term{{a, b}}
}
