package matrix

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/open-policy-agent/opa/v1/ast"
)

// flows finds where the parts of the input get to in the rules of one tree, and what they are compared with. It says
// too much rather than too little: a constant of too many, or a gap where there is none, does no harm.
type flows struct {
	rules *rules
	vars  map[*ast.Rule]map[ast.Var]*flow
	heads map[string]*flow // of rules by name, and of functions
	// compared are the constants by the path of the part of the input that is compared with them.
	compared map[string]map[string]ast.Value
	gaps     map[Gap]bool
	rule     *ast.Rule
	changed  bool
	// opaque says that nothing is read of a system role but whether it has a scope or a permission that is looked up.
	opaque bool
	// many says that a number of the permissions of a grant counts.
	many    bool
	strings func(ref ast.Ref) ([]string, error) // of a document of the tree's data
	err     error                               // of the first document that could not be read
}

// follow goes through the rules until nothing is new, or a document can't be read.
func (r *rules) follow(strings func(ast.Ref) ([]string, error)) *flows {
	f := &flows{
		rules: r, vars: map[*ast.Rule]map[ast.Var]*flow{}, heads: map[string]*flow{},
		compared: map[string]map[string]ast.Value{}, gaps: map[Gap]bool{}, strings: strings, opaque: true,
	}
	for f.changed = true; f.changed && f.err == nil; {
		f.changed = false
		for _, rule := range r.reached {
			f.visit(rule)
		}
	}
	return f
}

// visit goes through a rule: its parameters, its body and its head.
func (f *flows) visit(rule *ast.Rule) {
	f.rule = rule
	if f.vars[rule] == nil {
		f.vars[rule] = map[ast.Var]*flow{}
	}
	head := f.head(nameOf(rule))
	for i, arg := range rule.Head.Args {
		f.unifyWith(arg, f.param(nameOf(rule), i))
	}
	ast.WalkExprs(rule, func(e *ast.Expr) bool {
		f.expr(e)
		return false
	})
	for _, t := range append(slices.Clone(rule.Head.Reference[1:]), rule.Head.Key, rule.Head.Value) {
		if t != nil {
			f.changed = head.add(f.term(t)) || f.changed
		}
	}
}

// head returns the flow of the value of a rule, or of what a function returns.
func (f *flows) head(name string) *flow {
	if f.heads[name] == nil {
		f.heads[name] = newFlow()
	}
	return f.heads[name]
}

// param returns the flow of a parameter of a function.
func (f *flows) param(of string, i int) *flow { return f.head(of + " " + strconv.Itoa(i)) }

// variable returns the flow of a variable of the rule that is gone through.
func (f *flows) variable(v ast.Var) *flow {
	if f.vars[f.rule][v] == nil {
		f.vars[f.rule][v] = newFlow()
	}
	return f.vars[f.rule][v]
}

// expr goes through an expression of a body.
func (f *flows) expr(e *ast.Expr) {
	switch terms := e.Terms.(type) {
	case *ast.Term:
		f.term(terms)
	case *ast.Every:
		in := f.term(terms.Domain)
		f.unifyWith(terms.Value, in)
		if terms.Key != nil {
			f.unifyWith(terms.Key, in)
		}
	case []*ast.Term:
		f.call(e, terms)
	}
}

// unify has each of two equal terms hold what the other one may be.
func (f *flows) unify(a, b *ast.Term) {
	of, other := f.term(a), f.term(b)
	f.meet(of, other)
	f.into(a, other)
	f.into(b, of)
}

func (f *flows) unifyWith(t *ast.Term, of *flow) {
	f.meet(f.term(t), of)
	f.into(t, of)
}

// into has the variables of a term hold it.
func (f *flows) into(t *ast.Term, of *flow) {
	ast.WalkTerms(t, func(t *ast.Term) bool {
		switch v := t.Value.(type) {
		case ast.Var:
			f.changed = f.variable(v).add(of) || f.changed
		case ast.Ref:
			return true // looked up, not bound
		}
		return false
	})
}

// term returns what a term may be.
func (f *flows) term(t *ast.Term) *flow {
	out := newFlow()
	switch v := t.Value.(type) {
	case ast.String, ast.Number:
		out.consts[v.String()] = v
	case ast.Var:
		out.add(f.variable(v))
		if v.Equal(ast.InputRootDocument.Value) {
			out.paths[""] = true
		}
	case ast.Ref:
		return f.ref(v)
	case *ast.ArrayComprehension:
		out.add(f.term(v.Term))
	case *ast.SetComprehension:
		out.add(f.term(v.Term))
	case *ast.ObjectComprehension:
		out.add(f.term(v.Key))
		out.add(f.term(v.Value))
	case *ast.Array:
		v.Foreach(func(t *ast.Term) { out.add(f.term(t)) })
	case ast.Set:
		v.Foreach(func(t *ast.Term) { out.add(f.term(t)) })
	case ast.Object:
		v.Foreach(func(k, t *ast.Term) { out.add(f.term(k)); out.add(f.term(t)) })
	case ast.Call:
		for _, t := range v[1:] {
			out.add(f.term(t))
		}
	}
	out.made = isScalar(t) && out.made
	return out
}

// isScalar says whether a term is not a list, a set or an object of others.
func isScalar(t *ast.Term) bool {
	switch t.Value.(type) {
	case ast.Var, ast.Ref, ast.Call:
		return true
	}
	return false
}

// ref returns the flow of a reference, and compares its keys with those that stand there.
func (f *flows) ref(ref ast.Ref) *flow {
	at, rest := newFlow(), ref[1:]
	switch head := ref[0].Value.(type) {
	case ast.Var:
		switch {
		case head.Equal(ast.InputRootDocument.Value):
			at.paths[""] = true
		case head.Equal(ast.DefaultRootDocument.Value):
			at, rest = f.document(ref)
		default:
			at.add(f.variable(head))
		}
	default:
		at.add(f.term(ref[0]))
	}
	for _, t := range rest {
		if name, isName := t.Value.(ast.String); isName {
			f.meet(at.keyed(), &flow{consts: map[string]ast.Value{name.String(): name}})
			at = at.member(string(name))
			continue
		}
		f.compare(f.term(t), at)
		f.unifyWith(t, at)
	}
	return at
}

// document returns the flow at the beginning of a reference into data, and the rest of the reference: the value of a rule,
// the grants, or the texts of other documents.
func (f *flows) document(ref ast.Ref) (at *flow, rest ast.Ref) {
	at = newFlow()
	prefix := ref.ConstantPrefix()
	for i := len(prefix); i > 1; i-- {
		if name := prefix[:i].String(); f.heads[name] != nil || len(f.rules.compiler.GetRulesExact(prefix[:i])) > 0 {
			at.add(f.head(name))
			return at, ref[i:]
		}
	}
	if len(prefix) > 1 && prefix[1].Value.Compare(ast.String("grants")) == 0 {
		at.paths["grants"] = true
		return at, ref[2:]
	}
	texts, err := f.strings(prefix)
	f.err = cmp.Or(f.err, err)
	for _, text := range texts {
		at.consts[ast.String(text).String()] = ast.String(text)
	}
	return at, ref[len(prefix):]
}
