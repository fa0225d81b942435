package matrix

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/builtins"
)

// Gap is something that rules read and that no table can hold all values of.
type Gap struct {
	// At is the place, file:line; Reads the part of the input; LeftOut the questions that were not asked.
	At      string `json:"at"`
	Reads   string `json:"reads"`
	LeftOut string `json:"left_out"`
}

// flow is what may be in a variable or a rule's value: parts of the input by their paths, without the places of
// arrays; constants by their texts; and the content of data.grants, under the path "grants".
type flow struct {
	paths  map[string]bool
	consts map[string]ast.Value
	// made says that it may be a text made of others, by itself and not in a list or a set.
	made bool
	// built says that a built-in may have made it, or a part of it, so that the constants are not all that it may be.
	built bool
}

func newFlow() *flow { return &flow{paths: map[string]bool{}, consts: map[string]ast.Value{}} }

// add says whether anything was new.
func (f *flow) add(of *flow) bool {
	before, made, built := len(f.paths)+len(f.consts), f.made, f.built
	if f != of {
		maps.Copy(f.paths, of.paths)
		maps.Copy(f.consts, of.consts)
		f.made, f.built = f.made || of.made, f.built || of.built
	}
	return len(f.paths)+len(f.consts) > before || f.made != made || f.built != built
}

// has says whether all of another flow is in it, as where a variable is bound to it.
func (f *flow) has(other *flow) bool {
	for p := range other.paths {
		if !f.paths[p] {
			return false
		}
	}
	for text := range other.consts {
		if f.consts[text] == nil {
			return false
		}
	}
	return true
}

// number says whether it may be a number.
func (f *flow) number() bool {
	for p := range f.paths {
		if numeric(p) {
			return true
		}
	}
	for _, value := range f.consts {
		if _, is := value.(ast.Number); is {
			return true
		}
	}
	return false
}

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

// call follows the operands of a built-in or a function to its parameters, and its result to where it goes.
func (f *flows) call(e *ast.Expr, terms []*ast.Term) {
	operator, isRef := terms[0].Value.(ast.Ref)
	if !isRef {
		return
	}
	name := builtins.Name(operator)
	operands := terms[1:]
	if rules := f.rules.compiler.GetRules(operator); len(rules) > 0 {
		for i, operand := range operands {
			if i == len(rules[0].Head.Args) {
				f.unifyWith(operand, f.head(operator.String()))
				continue
			}
			f.changed = f.param(operator.String(), i).add(f.term(operand)) || f.changed
		}
		return
	}
	if name == "eq" || name == "equal" || name == "assign" || name == "neq" {
		if !e.Generated { // else the compiler gives a variable its value
			f.compare(f.term(operands[0]), f.term(operands[1]))
		}
		f.unify(operands[0], operands[1])
		return
	}
	all := newFlow()
	for i, operand := range operands {
		if i > 0 && compares(name) {
			f.compare(f.term(operands[0]), f.term(operand))
			f.meet(f.term(operands[0]), f.term(operand))
		}
		if name == "concat" && i == 0 || name == "split" && i == 1 { // what is put between or cut at
			continue
		}
		all.add(f.term(operand))
	}
	f.builtin(e, name, all)
	if b := ast.BuiltinMap[name]; b != nil && len(operands) > b.Decl.Arity() {
		switch {
		case formats(name):
			all = newFlow()
			all.made = true
		case !compares(name) || name == "minus" && all.number():
			all.built = true
		}
		f.unifyWith(operands[len(operands)-1], all)
	}
}

// builtin takes down what a built-in may tell apart in its operands.
func (f *flows) builtin(e *ast.Expr, name string, of *flow) {
	switch {
	case formats(name):
		return
	case compares(name):
		f.opaque = f.opaque && (!of.paths["grants"] || name == "internal.member_2" || name == "internal.member_3")
		for p := range of.paths {
			if left := open(p); left != "" && measures(name, p, of) {
				f.gaps[gap(e.Location, p, name+" can tell "+left+" apart")] = true
			}
		}
		f.meet(of, of)
		return
	}
	if of.made {
		f.gaps[gap(e.Location, "a text made of the question", name+" can tell such texts apart")] = true
	}
	for p := range of.paths {
		f.opaque = f.opaque && p != "grants"
		if numeric(p) && (name == "lt" || name == "lte" || name == "gt" || name == "gte") {
			if of.built {
				f.gaps[gap(e.Location, p, "what a built-in makes that it is compared with")] = true
			}
			f.meet(of, of)
			continue
		}
		f.counted(p, of.consts)
		if left := open(p); left != "" && (p != "grant.permissions" || !takesApart(name, of)) {
			f.gaps[gap(e.Location, p, name+" can tell "+left+" apart")] = true
		}
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

// compare takes down the open parts of the input that a rule compares with what a built-in has made.
func (f *flows) compare(a, b *flow) {
	for _, pair := range [2][2]*flow{{a, b}, {b, a}} {
		if !pair[0].built {
			continue
		}
		for p := range pair[1].paths {
			if open(p) != "" && !(pair[0].paths["grant.permissions"] && ofPermissions(p)) { // these are taken apart to be looked up
				f.gaps[gap(f.rule.Location, p, "what a built-in makes that it is compared with")] = true
			}
		}
	}
}

// meet takes down the constants with which parts of the input are compared.
func (f *flows) meet(a, b *flow) {
	for _, pair := range [2][2]*flow{{a, b}, {b, a}} {
		if pair[0].made && !pair[0].has(pair[1]) {
			f.gaps[gap(f.rule.Location, "a text made of the question", "what texts it is compared with")] = true
		}
		for p := range pair[0].paths {
			if f.compared[p] == nil {
				f.compared[p] = map[string]ast.Value{}
			}
			maps.Copy(f.compared[p], pair[1].consts)
			f.counted(p, pair[1].consts)
		}
	}
}

// counted takes down that a rule wants a number of assignments of which no holding has so many, or one of permissions
// that are granted.
func (f *flows) counted(path string, of map[string]ast.Value) {
	for _, value := range of {
		if n, ok := value.(ast.Number); ok && path == "grant.permissions" && n.Compare(ast.Number("0")) != 0 {
			f.many = true
		}
		if n, ok := value.(ast.Number); ok && (path == "subject.here" || path == "subject.assignments") && n.Compare(ast.Number("1")) > 0 {
			f.gaps[gap(f.rule.Location, path, "more than two assignments, or the places of them in a list")] = true
		}
	}
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

// keyed returns the parts of a flow that have members with names that the questions give.
func (f *flow) keyed() *flow {
	out := newFlow()
	for p := range f.paths {
		out.paths[p] = keyed(p)
		if !out.paths[p] {
			delete(out.paths, p)
		}
	}
	return out
}

// member returns what the members of that name give.
func (f *flow) member(name string) *flow {
	out := newFlow()
	maps.Copy(out.consts, f.consts)
	out.built = f.built
	for p := range f.paths {
		switch {
		case strings.HasPrefix(p, "subject.assignments") && isAssignmentField(name):
			out.paths["subject.here."+name] = true
			continue
		case p == "grants", keyed(p), strings.HasPrefix(p, "subject.assignments"), strings.Count(p, ".") > 1:
			out.paths[p] = true
			continue
		}
		out.paths[strings.TrimPrefix(p+"."+name, ".")] = true
	}
	return out
}
