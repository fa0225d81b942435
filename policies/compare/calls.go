package compare

import (
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/limits"
)

// call analyzes a call of a built-in or of a function of the tree.
func (c *expression) call(terms []*ast.Term) {
	operator, isRef := terms[0].Value.(ast.Ref)
	if !isRef {
		c.gap("a value that is not followed", "what is called")
		return
	}
	name, operands := limits.Name(operator), terms[1:]
	if name == "eq" || name == "assign" || name == "equal" {
		c.unify(operands[0], operands[1])
		return
	}
	arity, rules := len(operands), c.rules.compiler.GetRulesExact(operator)
	switch b := ast.BuiltinMap[name]; {
	case len(rules) > 0:
		arity = len(rules[0].Head.Args)
	case b != nil:
		arity = b.Decl.Arity()
		if b.Nondeterministic || strings.HasPrefix(name, "crypto.x509.parse_and_verify") { // these read the clock
			c.gap(name, "what it answers at another time")
		}
	}
	args := make([]*value, min(arity, len(operands)))
	for i := range args {
		args[i] = c.term(operands[i])
	}
	give := func() *value { return c.builtin(name, args) }
	if len(rules) > 0 {
		give = func() *value { return c.function(rules, args) }
	}
	if len(operands) > arity {
		c.bind(operands[arity], give())
	} else {
		c.require(give())
	}
}

// unify binds the variables of one side to the other side, or compares both.
func (c *expression) unify(a, b *ast.Term) {
	if c.unbound(b) && !c.unbound(a) {
		a, b = b, a
	}
	if _, isRef := a.Value.(ast.Ref); isRef && c.unbound(a) { // it iterates over members
		a, b = b, a
	}
	if !c.unbound(a) {
		v := c.term(a)
		c.bind(b, v)
		return
	}
	c.bind(a, c.term(b))
}

// function returns the value of a call of a function of the tree.
func (c *expression) function(rules []*ast.Rule, args []*value) *value {
	if len(rules) == 1 && len(args) == 1 && (args[0].isAt("grant.permissions") || args[0].isAt("permission")) && generalises(rules[0]) {
		return &value{shape: elements, items: []*value{openAt("generalisation")}}
	}
	location, negated := c.location, c.negated
	r := c.followDefinitions(rules, args)
	c.location, c.negated = location, negated
	c.needs = c.needs.and(r.defined)
	return r.value
}

// generalises says whether a function computes the eight generalisations of a pattern, in the form of the shipped
// rules.
func generalises(rule *ast.Rule) bool {
	_, text, _ := strings.Cut(engine.RuleText(rule), ")")
	return text == generalising
}

// generalising is the body of that function, as engine.RuleText writes it.
const generalising = ` := @1 if { @1 = {@2 | charged:split(@0, ":", @3); [@4, @5, @6] = @3; @7 = {"*", @4}; @8 = @7[@9]; ` +
	`@10 = {"*", @5}; @11 = @10[@12]; @13 = {"*", @6}; @14 = @13[@15]; charged:concat(":", [@8, @11, @14], @16); @2 = @16} }`

// builtin returns the value of a call of a built-in. A built-in that could distinguish open values is a gap.
func (c *expression) builtin(name string, args []*value) *value {
	if allPlain(args) {
		return plainResult(name, args)
	}
	out := (*value)(nil)
	switch name {
	case "neq":
		before := c.needs
		c.needs = needs{}
		c.compare(args[0], args[1])
		c.needs = before.and(c.needs.not())
		return truth()
	case "gt", "gte", "lt", "lte":
		return c.order(name, args)
	case "internal.member_2":
		return c.membership(args[0], args[1])
	case "sprintf", "internal.template_string", "internal.print":
		return &value{shape: printed}
	case "is_string", "is_number", "is_boolean", "is_object", "is_array", "is_set", "is_null":
		if args[0].shape == open {
			return truth()
		}
	case "object.get":
		if args[0].isPlain() && args[1].shape == open && args[2].isPlain() {
			c.noteConstants(args[0], args[1])
			return join(args[0], args[2])
		}
	case "split", "concat":
		out = wordParts(name, args)
	default:
		out = c.aggregate(name, args)
	}
	if out != nil {
		return out
	}
	return c.gapOf(name+" can tell its values apart", args...)
}

// wordParts returns the segments of a split permission, or the access word of a concatenated service scope. It returns
// nil for other calls.
func wordParts(name string, args []*value) *value {
	separator, text := args[0], args[1]
	if name == "split" {
		separator, text = text, separator
	}
	switch {
	case !separator.isOne() || separator.flat().consts[`":"`] == nil:
		return nil
	case name == "split" && (text.isAt("grant.permissions") || text.isAt("permission")):
		return &value{shape: list, items: []*value{{made: true}, openAt("segment.resource"), openAt("segment.verb")}}
	case name == "concat" && text.shape == list && len(text.items) == 2 && text.items[0].consts[`"service"`] != nil && text.items[1].isAt("principal.scopes"):
		return openAt("service word")
	}
	return nil
}

// aggregate returns the result of count and min over sets, and of count over members. It returns nil for other calls.
func (c *expression) aggregate(name string, args []*value) *value {
	set := args[0]
	switch {
	case set.shape == members && name == "count":
		return &value{shape: size}
	case set.shape != elements:
		return nil
	case name == "count":
		return &value{shape: size, needs: set.needs}
	case name == "min":
		c.needs = c.needs.and(set.needs)
		return joined(set.items).chosen()
	}
	return nil
}

// plainResult returns the result of a built-in over plain values.
func plainResult(name string, args []*value) *value {
	switch name {
	case "internal.member_2", "internal.member_3", "gt", "gte", "lt", "lte", "neq", "equal":
		return truth()
	case "object.get", "or", "and", "minus", "union", "intersection", "min", "max":
		out := &value{}
		for _, v := range args {
			out = join(out, v.flat())
		}
		return out
	}
	return &value{made: true}
}

// membership compares a value with the elements of a set.
func (c *expression) membership(v, set *value) *value {
	switch {
	case set.isPlain():
		if v.shape == open {
			c.noteConstants(set, v)
			return truth()
		}
	case set.shape == elements && v.isPrintable() || set.shape == elements && v.shape == list:
		c.needs = c.needs.and(set.needs)
		for _, item := range set.items {
			c.compare(v, item)
		}
		return truth()
	}
	return c.gapOf("whether it is among others", v, set)
}

// order analyzes <, <=, > and >=: times against constants, and sizes against 0 or 1.
func (c *expression) order(name string, args []*value) *value {
	a, b := args[0], args[1]
	if a.isPlain() {
		a, b, name = b, a, strings.NewReplacer("gt", "lt", "lt", "gt").Replace(name)
	}
	switch {
	case a.shape == size && b.isPlain():
		c.compareSize(name, a, b)
		return truth()
	case a.shape == open && b.isPlain() && (a.isAt("now") || a.isAt("grant.until")):
		c.noteConstants(b, a)
		return truth()
	}
	return c.gapOf("its order among others", args...)
}

// compareSize compares a size with a constant. Only tests for an empty set are followed.
func (c *expression) compareSize(name string, v, other *value) {
	number := ""
	if other.isOne() {
		for number = range other.flat().consts {
		}
	}
	switch name + " " + number {
	case "gt 0", "gte 1":
		c.needs = c.needs.and(v.needs)
	case "eq 0", "lte 0", "lt 1":
		c.needs = c.needs.and(v.needs.not())
	default:
		c.gapOf("how many there are", v)
	}
}
