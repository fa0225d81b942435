package engine

import (
	"github.com/open-policy-agent/opa/v1/ast"
)

// timeless says whether the rules' answer can change only when an assignment of the
// subject ends. That is so where all that is done with input.now is
//
//	input.now < assignment.expires
//
// for an assignment taken from input.subject.assignments[_][_][_] (also >=, and turned
// round), and is_number, which is always true. Anything else, such as a comparison
// with a constant, an end that is computed or one that came through a function, might
// be as harmless: it isn't proved, and no verdict is reused.
func timeless(rules []*ast.Rule) bool {
	for _, rule := range rules {
		if !newUses(rule).timeless(rule) {
			return false
		}
	}
	return true
}

// uses tells of a rule, its else branches included, where its variables come from. The
// compiler gives parts of an expression names of their own: input.now < a.expires is
// t = input.now; e = a.expires; t < e.
type uses struct {
	// times is how often a variable stands by itself; as the first part of a reference
	// it must have a value already, so that is none.
	times map[ast.Var]int
	// from is the reference that it equals, by an expression that is not negated.
	from map[ast.Var]ast.Ref
}

func newUses(rule *ast.Rule) *uses {
	u := &uses{times: map[ast.Var]int{}, from: map[ast.Var]ast.Ref{}}
	var visitor *ast.GenericVisitor
	visitor = ast.NewGenericVisitor(func(x any) bool {
		switch x := x.(type) {
		case ast.Var:
			u.times[x]++
		case ast.Ref:
			walkParts(visitor, x)
			return true
		case *ast.Expr:
			if v, ref, ok := binding(x); ok {
				u.from[v] = ref
			}
		}
		return false
	})
	walkRule(visitor, rule)
	return u
}

// binding is `v = reference`.
func binding(x *ast.Expr) (ast.Var, ast.Ref, bool) {
	if x.Negated || !x.IsEquality() || len(x.Operands()) != 2 {
		return "", nil, false
	}
	left, right := x.Operand(0).Value, x.Operand(1).Value
	if v, ok := left.(ast.Var); ok {
		ref, ok := right.(ast.Ref)
		return v, ref, ok
	}
	v, ok := right.(ast.Var)
	ref, isRef := left.(ast.Ref)
	return v, ref, ok && isRef
}

// timeless counts where the time stands, which is also in the whole of the input, and how many of the places are harmless.
func (u *uses) timeless(rule *ast.Rule) bool {
	harmless := map[ast.Var]int{} // by name, where the time has one
	stands, fine := 0, 0
	visitor := ast.NewGenericVisitor(func(x any) bool {
		switch x := x.(type) {
		case ast.Ref:
			if isInput(x[0].Value) && (dotted(x) == "" || within(dotted(x), "now")) {
				stands++
			}
		case *ast.Expr:
			if v, ref, ok := binding(x); ok && isNow(ref) {
				fine++
				harmless[v]++
			}
			switch now := u.compared(x).(type) {
			case ast.Ref:
				fine++
			case ast.Var:
				harmless[now]++
			}
		}
		return false
	})
	walkRule(visitor, rule)
	for v, n := range harmless {
		if u.times[v] != n {
			return false
		}
	}
	return stands == fine
}

// compared is the time, or the name that it has, where an expression does with it what
// is harmless, else nil.
func (u *uses) compared(x *ast.Expr) ast.Value {
	if !x.IsCall() {
		return nil
	}
	operands := x.Operands()
	var now, end *ast.Term
	switch operator := x.Operator().String(); {
	case operator == ast.IsNumber.Name && len(operands) > 0:
		now = operands[0]
	case (operator == ast.LessThan.Name || operator == ast.GreaterThanEq.Name) && len(operands) > 1:
		now, end = operands[0], operands[1]
	case (operator == ast.GreaterThan.Name || operator == ast.LessThanEq.Name) && len(operands) > 1:
		end, now = operands[0], operands[1]
	default:
		return nil
	}
	if end != nil && !u.isEnd(end.Value) {
		return nil
	}
	switch v := now.Value.(type) {
	case ast.Ref:
		if isNow(v) {
			return v
		}
	case ast.Var:
		if isNow(u.from[v]) {
			return v
		}
	}
	return nil
}

// isEnd says whether the value is when an assignment of the subject ends. A name must
// have no other use, so that nothing else can give it a value.
func (u *uses) isEnd(v ast.Value) bool {
	if name, ok := v.(ast.Var); ok {
		ref, bound := u.from[name]
		if !bound || u.times[name] != 2 {
			return false
		}
		v = ref
	}
	ref, ok := v.(ast.Ref)
	if !ok || !ref[len(ref)-1].Equal(ast.InternedTerm("expires")) {
		return false
	}
	of := ref[:len(ref)-1]
	if name, ok := of[0].Value.(ast.Var); ok && len(of) == 1 && u.times[name] == 1 {
		of = u.from[name]
	}
	return len(of) == 6 && of.HasPrefix(inputRef("subject", "assignments"))
}

func isNow(ref ast.Ref) bool { return ref.Equal(inputRef("now")) }

func inputRef(parts ...string) ast.Ref {
	ref := ast.Ref{ast.InputRootDocument}
	for _, part := range parts {
		ref = append(ref, ast.InternedTerm(part))
	}
	return ref
}
