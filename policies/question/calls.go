package question

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/builtins"
)

// call goes through an expression that calls a function, the last of whose terms may be its result.
func (f *follower) call(terms []*ast.Term) {
	name, operands := "", terms[1:]
	if operator, isRef := terms[0].Value.(ast.Ref); isRef {
		name = builtins.Name(operator)
	}
	switch name {
	case "eq", "assign":
		f.unify(operands[0], operands[1])
		return
	}
	arity := len(operands)
	if rules := f.compiler.GetRules(terms[0].Value.(ast.Ref)); len(rules) > 0 {
		arity = len(rules[0].Head.Args)
	} else if builtin := ast.BuiltinMap[name]; builtin != nil {
		arity = builtin.Decl.Arity()
	}
	result := f.result(append([]*ast.Term{terms[0]}, operands[:min(arity, len(operands))]...))
	if len(operands) > arity {
		f.bind(operands[arity], result)
	}
}

// result returns what a function makes of its operands.
func (f *follower) result(call []*ast.Term) *flow {
	operator, _ := call[0].Value.(ast.Ref)
	var operands []*flow
	for _, t := range call[1:] {
		operands = append(operands, f.term(t))
	}
	if rules := f.compiler.GetRules(operator); len(rules) > 0 {
		for i, operand := range operands {
			f.changed = f.param(operator.String(), i).add(operand) || f.changed
		}
		return f.head(operator.String())
	}
	name := builtins.Name(operator)
	if ast.BuiltinMap[name] == nil || changeable(name) {
		f.other("", name+" answers differently at different times")
	}
	return f.builtin(name, call[1:], operands)
}

// builtin returns what a built-in makes of its operands.
func (f *follower) builtin(name string, terms []*ast.Term, of []*flow) *flow {
	out := newFlow()
	switch name {
	case "equal", "neq", "eq", "internal.member_2":
		f.compare(of[0], of[1])
	case "internal.member_3":
		f.compare(of[0], of[2])
		f.compare(of[1], of[2])
	case "lt", "lte", "gt", "gte":
		f.order(of[0], of[1])
	case "startswith":
		f.prefix(of[0], of[1])
	case "count":
		f.count(of[0], out)
	case "min", "max":
		out.add(of[0])
		f.unless(of[0], name, HereRole, "grant.permissions", "principal.scopes", Segment)
	case "minus", "and", "or":
		if numeric(of[0]) || numeric(of[1]) {
			return f.any(name, of)
		}
		f.compare(of[0], of[1])
		out.merge(of[0].all())
		out.merge(of[1].all())
	case "object.get":
		return f.get(terms, of)
	case "is_string", "is_number", "is_boolean", "is_array", "is_set", "is_object", "is_null":
	case "split":
		return f.split(of)
	case "concat":
		return f.concat(of)
	case "sprintf":
		return f.print(of[1])
	default:
		return f.any(name, of)
	}
	return out
}

// numeric says whether a value may be a number.
func numeric(of *flow) bool {
	of = of.all()
	for _, value := range of.consts {
		if _, isNumber := value.(ast.Number); isNumber {
			return true
		}
	}
	return of.labels["now"] || of.labels["grant.until"] || of.labels[index] || len(of.counted) > 0
}

// unless takes down a built-in that tells values apart in a way that is not followed, but for those of the paths given.
func (f *follower) unless(of *flow, name string, paths ...string) {
	for path := range of.texts() {
		if !slices.Contains(paths, path) {
			f.other(path, "handed to "+name)
		}
	}
}

// any is a built-in that is not followed.
func (f *follower) any(name string, of []*flow) *flow {
	out := newFlow()
	out.unknown = true
	for _, operand := range of {
		f.unless(operand, name)
		for path := range operand.texts() {
			out.made[path] = true
		}
	}
	return out
}

// print is a built-in that makes a text of values.
func (f *follower) print(of *flow) *flow {
	out := newFlow()
	out.unknown = true
	for path := range of.texts() {
		if path == here || path == index {
			f.other(path, "printed")
		}
		note(f.printed, path, Use{f.at, "printed"})
		out.made[path] = true
	}
	return out
}

// order compares two values by their order: a time with constants, and numbers of elements with 0.
func (f *follower) order(a, b *flow) {
	a, b = a.all(), b.all()
	for _, pair := range [][2]*flow{{a, b}, {b, a}} {
		for path := range pair[0].labels {
			if path != "now" && path != "grant.until" {
				f.other(path, "compared by its order")
			}
		}
	}
	f.compare(a, b)
}

// prefix asks whether a text begins with another one.
func (f *follower) prefix(of, begin *flow) {
	of, begin = of.all(), begin.all()
	if len(begin.labels)+len(begin.made) > 0 || begin.unknown || len(of.made) > 0 {
		f.unless(of, "startswith")
		f.unless(begin, "startswith")
		return
	}
	for path := range of.labels {
		if path == serviceWord || path == Segment || path == here || path == index {
			f.other(path, "handed to startswith")
		}
		for _, value := range begin.scalars() {
			if text, isText := value.(ast.String); isText && !slices.Contains(f.uses.Prefixes[path], string(text)) {
				f.uses.Prefixes[path] = append(f.uses.Prefixes[path], string(text))
			}
		}
	}
}

// count asks for a number of elements.
func (f *follower) count(of, out *flow) {
	for path := range of.texts() {
		switch path {
		case here, HereRole, HerePermissions, "grant.permissions", "principal.scopes":
			out.counted[path] = true
		default:
			f.other(path, "counted")
		}
	}
	out.unknown = len(out.counted) == 0
}

// get is object.get: a look-up by a name, not by a list of them.
func (f *follower) get(terms []*ast.Term, of []*flow) *flow {
	out := newFlow()
	if of[0].labels[here] || len(of[1].items) > 0 {
		return f.any("object.get", of)
	}
	key := terms[1]
	for _, document := range of[1].documents { // a list of names
		if _, isList := document.(*ast.Array); isList {
			return f.any("object.get", of)
		}
	}
	out.merge(f.members(of[0], key).all())
	out.merge(of[2].all())
	return out
}

// split takes permissions apart.
func (f *follower) split(of []*flow) *flow {
	at := of[1].scalars()
	permission := func(path string) bool { return related(path, "action.id") }
	if _, byColon := at[`":"`]; !byColon || len(at) != 1 || len(of[1].texts()) > 0 || of[1].unknown {
		return f.any("split", of)
	}
	labels := of[0].texts()
	for path := range labels {
		if !permission(path) || of[0].made[path] {
			return f.any("split", of)
		}
	}
	out := newFlow()
	for _, value := range of[0].scalars() {
		text, _ := value.(ast.String)
		for segment := range strings.SplitSeq(string(text), ":") {
			out.document(ast.String(segment))
		}
	}
	if out.unknown = of[0].unknown; len(labels) > 0 {
		out.labels[Segment] = true
	}
	return out
}

// concat puts segments together to a permission, or "service" and a scope to a word; any other text that it makes is only
// printed.
func (f *follower) concat(of []*flow) *flow {
	with := of[0].scalars()
	if _, byColon := with[`":"`]; !byColon || len(with) != 1 {
		return f.print(joined(of))
	}
	parts := of[1].all()
	switch labels := parts.texts(); {
	case len(parts.made) > 0 || parts.unknown:
	case len(labels) == 1 && labels[Segment]:
		return labelled("grant.permissions")
	case len(labels) == 1 && labels["principal.scopes"] && len(of[1].items) == 2 && len(parts.consts) == 1 && parts.consts[`"service"`] != nil &&
		len(parts.documents) == 0 && of[1].items[1].labels["principal.scopes"]:
		return labelled(serviceWord)
	}
	return f.print(joined(of))
}

func joined(of []*flow) *flow {
	out := newFlow()
	for _, operand := range of {
		out.merge(operand.all())
	}
	return out
}
