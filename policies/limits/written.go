package limits

import (
	"fmt"
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

const (
	// maxUnfolded bounds the values to which one literal unfolds.
	maxUnfolded = 100_000
	// maxLooked bounds the expressions that are looked at, those of a function once for each size of its operands.
	maxLooked = 5_000_000
)

// CheckWritten is a stage of OPA's compiler, before it checks types. It follows values through variables, rules and functions,
// by their sizes. The error is of a literal of too much, or of an expression that can make a value a part of itself.
//
// OPA writes out what the variables of a literal stand for whenever it needs the value, and nothing stops it meanwhile; it
// writes out types in the same way. So `b := [a, a]`, `c := [b, b]` and so on, be they variables or rules, double at each step.
func CheckWritten(c *ast.Compiler) *ast.Error {
	w := &written{root: c.RuleTree, values: map[string]*value{}, replaced: map[*ast.TreeNode]bool{}}
	for _, module := range c.Modules {
		ast.WalkWiths(module, func(replaced *ast.With) bool {
			if ref, ok := replaced.Target.Value.(ast.Ref); ok {
				w.replace(meant(w.root, ref))
			}
			return false
		})
	}
	w.under(1, nil, func() {
		for _, file := range slices.Sorted(maps.Keys(c.Modules)) {
			for _, rule := range c.Modules[file].Rules {
				w.rule(rule, nil)
			}
		}
	})
	return w.err
}

// written goes through the rules as an evaluation does.
type written struct {
	root *ast.TreeNode
	// values are those of rules and functions by their names.
	values map[string]*value
	// replaced are the rules in whose place a `with` puts something.
	replaced map[*ast.TreeNode]bool
	// there is what no rule has made: data, the input, what a built-in returns. It is one value, or as large as what a `with`
	// puts in its place. mocks are the functions that a `with` puts in the place of others.
	there  *value
	mocks  map[string]*ast.TreeNode
	looked int
	loc    *ast.Location
	err    *ast.Error
}

// value is what a variable or a rule stands for: so many values when it is written out.
type value struct{ size int }

// constant is what has no variables.
var constant = &value{size: 1}

// piece is a part of a value, all of it for the path "".
type piece struct {
	base *value
	path string
}

// unknown is a part of which nothing is known.
func unknown() piece { return piece{&value{size: 1}, ""} }

// scope has the variables that have values.
type scope map[ast.Var]piece

func (w *written) replace(node *ast.TreeNode) {
	if node != nil {
		node.DepthFirst(func(below *ast.TreeNode) bool {
			w.replaced[below] = true
			return false
		})
	}
}

// problem notes the first problem, where the walk ends.
func (w *written) problem(format string, args ...any) {
	if w.err == nil {
		w.err = ast.NewError(limitErr, w.loc, format, args...)
	}
}

// under calls do below a `with` that replaces values by others of that size, and functions by mocks.
func (w *written) under(size int, mocks map[string]*ast.TreeNode, do func()) {
	defer func(there *value, was map[string]*ast.TreeNode) { w.there, w.mocks = there, was }(w.there, w.mocks)
	w.there, w.mocks = &value{size: min(size, maxUnfolded)}, mocks
	do()
}

// once returns the value of that name, with the size from the first call of size.
func (w *written) once(name string, size func() int) *value {
	name = fmt.Sprint(name, " below ", w.there.size, w.mocks)
	v := w.values[name]
	if v == nil {
		v = &value{size: 1}
		w.values[name] = v // while it is looked at
		v.size = size()
	}
	return v
}

// rule returns the size of what a rule with all its branches adds to its document, for operands of these sizes.
func (w *written) rule(rule *ast.Rule, args []*value) (most int) {
	defer func(loc *ast.Location) { w.loc = loc }(w.loc)
	for branch := rule; branch != nil && w.err == nil; branch = branch.Else {
		w.loc = branch.Location
		s := scope{}
		for i, operand := range branch.Head.Args {
			arg := unknown()
			if i < len(args) {
				arg = piece{args[i], ""}
			}
			s.bind(operand, arg)
		}
		w.body(s, branch.Body)
		made := keysOf(branch.Head)
		switch value := branch.Head.Value; {
		case value != nil && len(made) == 0:
			most = max(most, w.term(s, value).base.size)
			continue
		case value != nil:
			made = append(made, value)
		}
		most = max(most, w.literal(s, made...).base.size)
	}
	return most
}

// document returns what all rules at a node and below it stand for.
func (w *written) document(node *ast.TreeNode) *value {
	return w.once(fmt.Sprintf("%p", node), func() (size int) {
		for _, rule := range node.Values {
			if len(rule.Head.Args) > 0 {
				continue
			}
			if added := w.rule(rule, nil); rule.Head.RuleKind() == ast.MultiValue || len(keysOf(rule.Head)) > 0 {
				size += added
			} else {
				size = max(size, added)
			}
		}
		for _, key := range node.Sorted {
			if child := node.Child(key); child != nil {
				size += w.document(child).size
			}
		}
		if w.replaced[node] {
			size = max(size, w.there.size)
		}
		return min(max(size, 1), maxUnfolded)
	})
}

// function returns what a function returns for operands of these sizes.
func (w *written) function(node *ast.TreeNode, args []*value) *value {
	name := fmt.Sprintf("%p", node)
	for _, arg := range args {
		name += fmt.Sprint(" ", arg.size)
	}
	return w.once(name, func() (size int) {
		for _, rule := range node.Values {
			size = max(size, w.rule(rule, args))
		}
		return max(size, 1)
	})
}

// body goes through expressions in the order in which they are evaluated.
func (w *written) body(s scope, body ast.Body) {
	defer func(loc *ast.Location) { w.loc = loc }(w.loc)
	for _, expr := range body {
		if w.looked++; w.looked > maxLooked {
			w.problem("functions are called with too many sizes of operands to be looked at: call fewer of them, or hand over less")
		}
		if w.err != nil {
			return
		}
		if expr.Location != nil && expr.Location.File != "" {
			w.loc = expr.Location
		}
		if len(expr.With) == 0 {
			w.expr(s, expr)
			continue
		}
		size, mocks := w.there.size, maps.Clone(w.mocks)
		for _, replaced := range expr.With {
			if put := w.term(s, replaced.Value); put.base != constant {
				size += put.base.size
			}
			if ref, ok := replaced.Value.Value.(ast.Ref); ok && meant(w.root, ref) != nil {
				if mocks == nil {
					mocks = map[string]*ast.TreeNode{}
				}
				mocks[Name(replaced.Target.Value.(ast.Ref))] = meant(w.root, ref)
			}
		}
		w.under(size, mocks, func() { w.expr(s, expr) })
	}
}

func (w *written) expr(s scope, expr *ast.Expr) {
	if expr.Negated {
		s = maps.Clone(s)
	}
	switch terms := expr.Terms.(type) {
	case *ast.Term:
		w.term(s, terms)
	case []*ast.Term:
		w.call(s, terms)
	case *ast.Every:
		each := maps.Clone(s)
		if terms.Key != nil {
			each.bind(terms.Key, unknown())
		}
		each.bind(terms.Value, w.term(s, terms.Domain))
		w.body(each, terms.Body)
	case *ast.Not:
		w.body(maps.Clone(s), terms.Body)
	case *ast.LogicalAnd:
		w.body(maps.Clone(s), terms.Lhs)
		w.body(maps.Clone(s), terms.Rhs)
	case *ast.LogicalOr:
		w.body(maps.Clone(s), terms.Lhs)
		w.body(maps.Clone(s), terms.Rhs)
	}
}

// call goes through an expression that calls something.
func (w *written) call(s scope, terms []*ast.Term) {
	operator, isRef := terms[0].Value.(ast.Ref)
	operands := terms[1:]
	if !isRef {
		return
	}
	name := Name(operator)
	if name == "eq" && len(operands) == 2 {
		w.unify(s, operands[0], operands[1])
		return
	}
	node := meant(w.root, operator)
	arity := len(operands)
	if node != nil && len(node.Values) > 0 {
		arity = len(node.Values[0].Head.Args)
	} else if b := ast.BuiltinMap[name]; b != nil {
		arity = b.Decl.Arity()
	}
	var args []*value
	for _, operand := range operands[:min(arity, len(operands))] {
		args = append(args, &value{size: w.term(s, operand).base.size})
	}
	mocks := w.mocks
	if mock := mocks[name]; mock != nil { // inside of which it is itself again
		node, mocks = mock, maps.Clone(mocks)
		delete(mocks, name)
	}
	out := w.there
	if node != nil {
		w.under(w.there.size, mocks, func() { out = w.function(node, args) })
	}
	for _, result := range operands[len(args):] {
		s.bind(result, piece{out, ""})
	}
}

// term returns what a term stands for.
func (w *written) term(s scope, t *ast.Term) piece {
	if w.err != nil {
		return piece{w.there, ""}
	}
	switch v := t.Value.(type) {
	case ast.Null, ast.Boolean, ast.Number, ast.String:
		return piece{constant, ""}
	case ast.Var:
		if p, bound := s[v]; bound {
			return p
		}
	case ast.Ref:
		return w.ref(s, v)
	case *ast.Array, ast.Object, ast.Set:
		return w.literal(s, membersOf(t)...)
	case *ast.ArrayComprehension:
		return w.comprehension(s, v.Body, v.Term)
	case *ast.SetComprehension:
		return w.comprehension(s, v.Body, v.Term)
	case *ast.ObjectComprehension:
		return w.comprehension(s, v.Body, v.Key, v.Value)
	}
	return unknown() // of a variable that gets its value later
}

// comprehension returns one with one element.
func (w *written) comprehension(s scope, body ast.Body, each ...*ast.Term) piece {
	inside := maps.Clone(s)
	w.body(inside, body)
	return w.literal(inside, each...)
}

// literal returns a value that has these members.
//
// Parts of one value that stand beside each other, as in {"a": x.a, "b": x.b}, are no more than all of it together: the
// value counts as often as the part does of which there are most.
func (w *written) literal(s scope, members ...*ast.Term) piece {
	parts := map[*value][]string{}
	size := 1 + w.gather(s, members, parts)
	if len(parts) == 0 {
		return piece{constant, ""}
	}
	for base, paths := range parts {
		count, most := map[string]int{}, 0
		for _, path := range paths {
			count[path]++
		}
		for path := range count {
			n := count[""]
			for i, c := range path {
				if c == '/' { // which ends the step above
					n += count[path[:i+1]]
				}
			}
			most = max(most, n)
		}
		size = min(size+max(most*base.size, len(paths)), maxUnfolded+1)
	}
	if size > maxUnfolded {
		w.problem("a literal unfolds to more than %d values, since what its variables stand for is written out each time: "+
			"nest fewer of them, or put what is data into a data.json", maxUnfolded)
	}
	return piece{&value{size: size}, ""}
}

// gather returns how many members have no variables, literals among them with theirs, and adds the parts that the variables
// of the others stand for. A literal without variables counts as one: it is never written out anew.
func (w *written) gather(s scope, members []*ast.Term, parts map[*value][]string) (size int) {
	for _, t := range members {
		if composite(t) {
			below := map[*value][]string{}
			inner := w.gather(s, membersOf(t), below)
			for base, paths := range below {
				parts[base] = append(parts[base], paths...)
			}
			if size++; len(below) > 0 {
				size += inner
			}
			continue
		}
		p := w.term(s, t)
		if p.base == constant {
			size++
		} else {
			parts[p.base] = append(parts[p.base], p.path)
		}
	}
	return size
}

// ref returns what stands at a reference.
func (w *written) ref(s scope, ref ast.Ref) piece {
	w.checkKeys(s, ref)
	for v := range s.depths(ref[1:]...) {
		s[v] = unknown()
	}
	p, rest := w.term(s, ref[0]), ref[1:]
	if node := meant(w.root, ref); node != nil {
		for n := w.root.Child(ref[0].Value); n != node; rest = rest[1:] {
			n = n.Child(rest[0].Value)
		}
		p = piece{w.document(node), ""}
	} else if ref[0].Equal(ast.DefaultRootDocument) || ref[0].Equal(ast.InputRootDocument) {
		p = piece{w.there, ref[0].String() + "/"}
	}
	return p.member(rest...)
}

// member returns the part of a part at a path, as far as it is known before.
func (p piece) member(path ...*ast.Term) piece {
	for _, t := range path {
		if !ast.IsConstant(t.Value) {
			break
		}
		p.path += t.String() + "/"
	}
	return p
}
