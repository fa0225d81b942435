package matrix

import (
	"maps"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/builtins"
)

// call follows the operands of a built-in or a function to its parameters, and its result to where it goes.
func (f *flows) call(e *ast.Expr, terms []*ast.Term) {
	operator, isRef := terms[0].Value.(ast.Ref)
	if !isRef {
		return
	}
	name, operands := builtins.Name(operator), terms[1:]
	if rules := f.rules.compiler.GetRules(operator); len(rules) > 0 {
		f.function(operator.String(), len(rules[0].Head.Args), operands)
		return
	}
	switch name {
	case "eq", "equal", "assign", "neq":
		if !e.Generated { // else the compiler gives a variable its value
			f.compare(f.term(operands[0]), f.term(operands[1]))
		}
		f.unify(operands[0], operands[1])
		return
	}
	all := f.operands(name, operands)
	f.builtin(e, name, all)
	if b := ast.BuiltinMap[name]; b != nil && len(operands) > b.Decl.Arity() {
		f.unifyWith(operands[len(operands)-1], result(name, all))
	}
}

// function follows operands to the parameters of a function of the tree, and its value to the operand behind them.
func (f *flows) function(name string, params int, operands []*ast.Term) {
	for i, operand := range operands {
		if i == params {
			f.unifyWith(operand, f.head(name))
			continue
		}
		f.changed = f.param(name, i).add(f.term(operand)) || f.changed
	}
}

// operands returns what a built-in is given, and compares the operands where it does.
func (f *flows) operands(name string, operands []*ast.Term) *flow {
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
	return all
}

// result returns what a built-in makes of its operands.
func result(name string, of *flow) *flow {
	switch {
	case formats(name):
		of = newFlow()
		of.made = true
	case !compares(name) || name == "minus" && of.number():
		of.built = true
	}
	return of
}

// builtin takes down what a built-in may tell apart in its operands.
func (f *flows) builtin(e *ast.Expr, name string, of *flow) {
	switch {
	case formats(name): // the text is followed
	case compares(name):
		f.comparing(e, name, of)
	default:
		f.computing(e, name, of)
	}
}

// comparing takes down what a built-in that compares tells apart beside equal values.
func (f *flows) comparing(e *ast.Expr, name string, of *flow) {
	f.opaque = f.opaque && (!of.paths["grants"] || name == "internal.member_2" || name == "internal.member_3")
	for p := range of.paths {
		if left := open(p); left != "" && measures(name, p, of) {
			f.gaps[gap(e.Location, p, name+" can tell "+left+" apart")] = true
		}
	}
	f.meet(of, of)
}

// computing takes down what a built-in that makes values of its operands, or puts them in order, may tell apart.
func (f *flows) computing(e *ast.Expr, name string, of *flow) {
	if of.made {
		f.gaps[gap(e.Location, "a text made of the question", name+" can tell such texts apart")] = true
	}
	for p := range of.paths {
		f.opaque = f.opaque && p != "grants"
		if numeric(p) && orders(name) {
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

// compare takes down the open parts of the input that a rule compares with what a built-in has made.
func (f *flows) compare(a, b *flow) {
	for _, pair := range [2][2]*flow{{a, b}, {b, a}} {
		if !pair[0].built {
			continue
		}
		for p := range pair[1].paths {
			if open(p) != "" && (!pair[0].paths["grant.permissions"] || !ofPermissions(p)) { // these are taken apart to be looked up
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
