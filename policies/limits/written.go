package limits

import (
	"fmt"
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

const (
	// maxUnfolded bounds the values to which one literal expands.
	maxUnfolded = 100_000
	// maxVisited bounds the visited expressions. Those of a function count once for each size of its operands.
	maxVisited = 5_000_000
)

// CheckWritten is a stage of OPA's compiler, before it checks types. It follows the sizes of values through variables,
// rules and functions. It rejects literals with too many values, and expressions by which values can become parts of
// themselves.
//
// OPA replaces the variables of a literal by their values whenever it needs the literal, and nothing can stop it
// meanwhile. It does the same with types. So `b := [a, a]`, `c := [b, b]` and so on double at each step, as variables
// and as rules.
func CheckWritten(c *ast.Compiler) *ast.Error {
	w := &written{root: c.RuleTree, values: map[string]*value{}, replaced: map[*ast.TreeNode]bool{}}
	for _, module := range c.Modules {
		ast.WalkWiths(module, func(replaced *ast.With) bool {
			if ref, ok := replaced.Target.Value.(ast.Ref); ok {
				w.replace(nodeOf(w.root, ref))
			}
			return false
		})
	}
	w.replacing(1, nil, func() {
		for _, file := range slices.Sorted(maps.Keys(c.Modules)) {
			for _, rule := range c.Modules[file].Rules {
				w.rule(rule, nil)
			}
		}
	})
	return w.err
}

// written visits the rules in the order of an evaluation.
type written struct {
	root *ast.TreeNode
	// values has the values of rules and functions by the names of memoized.
	values map[string]*value
	// replaced has the nodes of rules that a `with` replaces.
	replaced map[*ast.TreeNode]bool
	// external is a value from outside the rules: of data, of the input, of a built-in. Its size is 1, and below a
	// `with` also the sizes of the replacements. mocks has the functions by which a `with` replaces others.
	external *value
	mocks    map[string]*ast.TreeNode
	visited  int
	loc      *ast.Location
	err      *ast.Error
}

// value is the value of a variable or a rule. size is the number of values to which it expands.
type value struct{ size int }

// constant is a term without variables.
var constant = &value{size: 1}

// piece is the part of a value at a path; "" is the whole value.
type piece struct {
	base *value
	path string
}

// unknown returns a value of the size 1 that shares no parts with others.
func unknown() piece { return piece{&value{size: 1}, ""} }

// scope has the bound variables.
type scope map[ast.Var]piece

func (w *written) replace(node *ast.TreeNode) {
	if node != nil {
		node.DepthFirst(func(child *ast.TreeNode) bool {
			w.replaced[child] = true
			return false
		})
	}
}

// problem records the first problem. The walk ends there.
func (w *written) problem(format string, args ...any) {
	if w.err == nil {
		w.err = ast.NewError(limitErr, w.loc, format, args...)
	}
}

// replacing calls do below a `with`. size is the size of external values there, mocks replace functions.
func (w *written) replacing(size int, mocks map[string]*ast.TreeNode, do func()) {
	defer func(external *value, outer map[string]*ast.TreeNode) { w.external, w.mocks = external, outer }(w.external, w.mocks)
	w.external, w.mocks = &value{size: min(size, maxUnfolded)}, mocks
	do()
}

// memoized returns the value of that name. It calls size for a new one.
func (w *written) memoized(name string, size func() int) *value {
	name = fmt.Sprint(name, " below ", w.external.size, w.mocks)
	v := w.values[name]
	if v == nil {
		v = &value{size: 1}
		w.values[name] = v // a recursive visit finds the size 1
		v.size = size()
	}
	return v
}

// rule returns the size of a rule's largest branch for operands of these sizes: so much it adds to its document.
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

// document returns the value of all rules at a node and below it.
func (w *written) document(node *ast.TreeNode) *value {
	return w.memoized(fmt.Sprintf("%p", node), func() (size int) {
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
			size = max(size, w.external.size)
		}
		return min(max(size, 1), maxUnfolded)
	})
}

// function returns the result of a function for operands of these sizes.
func (w *written) function(node *ast.TreeNode, args []*value) *value {
	name := fmt.Sprintf("%p", node)
	for _, arg := range args {
		name += fmt.Sprint(" ", arg.size)
	}
	return w.memoized(name, func() (size int) {
		for _, rule := range node.Values {
			size = max(size, w.rule(rule, args))
		}
		return max(size, 1)
	})
}

// body visits expressions in the order of an evaluation.
func (w *written) body(s scope, body ast.Body) {
	defer func(loc *ast.Location) { w.loc = loc }(w.loc)
	for _, expr := range body {
		if w.visited++; w.visited > maxVisited {
			w.problem("functions are called with operands of too many different sizes: call fewer functions, or pass smaller values")
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
		size, mocks := w.external.size, maps.Clone(w.mocks)
		for _, replaced := range expr.With {
			if replacement := w.term(s, replaced.Value); replacement.base != constant {
				size += replacement.base.size
			}
			if ref, ok := replaced.Value.Value.(ast.Ref); ok && nodeOf(w.root, ref) != nil {
				if mocks == nil {
					mocks = map[string]*ast.TreeNode{}
				}
				mocks[Name(replaced.Target.Value.(ast.Ref))] = nodeOf(w.root, ref)
			}
		}
		w.replacing(size, mocks, func() { w.expr(s, expr) })
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

// call visits a call: a unification, a function or a built-in.
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
	node := nodeOf(w.root, operator)
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
	if mock := mocks[name]; mock != nil { // inside the mock the name means the original function
		node, mocks = mock, maps.Clone(mocks)
		delete(mocks, name)
	}
	out := w.external
	if node != nil {
		w.replacing(w.external.size, mocks, func() { out = w.function(node, args) })
	}
	for _, result := range operands[len(args):] {
		s.bind(result, piece{out, ""})
	}
}

// term returns the value of a term.
func (w *written) term(s scope, t *ast.Term) piece {
	if w.err != nil {
		return piece{w.external, ""}
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
	return unknown() // a variable without a value yet, or a call
}

// comprehension returns the value of a comprehension with one element.
func (w *written) comprehension(s scope, body ast.Body, each ...*ast.Term) piece {
	local := maps.Clone(s)
	w.body(local, body)
	return w.literal(local, each...)
}

// literal returns the value of a literal with these members.
//
// Different parts of one value, as in {"a": x.a, "b": x.b}, are together not larger than the whole value. So the value
// counts as often as its most frequent part.
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
				if c == '/' { // the end of a parent's path
					n += count[path[:i+1]]
				}
			}
			most = max(most, n)
		}
		size = min(size+max(most*base.size, len(paths)), maxUnfolded+1)
	}
	if size > maxUnfolded {
		w.problem("a literal expands to more than %d values, since OPA copies the values of its variables each time: "+
			"nest fewer of them, or put what is data into a data.json", maxUnfolded)
	}
	return piece{&value{size: size}, ""}
}

// gather returns the number of members without variables, and adds the values of the other members to parts. It counts
// nested literals with their members. A nested literal without variables counts as one: OPA does not copy it.
func (w *written) gather(s scope, members []*ast.Term, parts map[*value][]string) (size int) {
	for _, t := range members {
		if composite(t) {
			innerParts := map[*value][]string{}
			inner := w.gather(s, membersOf(t), innerParts)
			for base, paths := range innerParts {
				parts[base] = append(parts[base], paths...)
			}
			if size++; len(innerParts) > 0 {
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

// ref returns the value of a reference.
func (w *written) ref(s scope, ref ast.Ref) piece {
	w.checkKeys(s, ref)
	for v := range s.depths(ref[1:]...) {
		s[v] = unknown()
	}
	p, rest := w.term(s, ref[0]), ref[1:]
	if node := nodeOf(w.root, ref); node != nil {
		for n := w.root.Child(ref[0].Value); n != node; rest = rest[1:] {
			n = n.Child(rest[0].Value)
		}
		p = piece{w.document(node), ""}
	} else if ref[0].Equal(ast.DefaultRootDocument) || ref[0].Equal(ast.InputRootDocument) {
		p = piece{w.external, ref[0].String() + "/"}
	}
	return p.member(rest...)
}

// member returns the part at the constant beginning of a path.
func (p piece) member(path ...*ast.Term) piece {
	for _, t := range path {
		if !ast.IsConstant(t.Value) {
			break
		}
		p.path += t.String() + "/"
	}
	return p
}
