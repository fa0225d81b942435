package compare

import (
	"cmp"
	"context"
	"maps"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// mostFollowed limits the definitions that one analysis visits. A function counts once per call.
const mostFollowed = 20_000

// analyzer evaluates the rules of one tree abstractly: over what is known of each value, in place of the value. It
// follows a closed list of forms. Everything else is a gap, so an unforeseen form hides no difference.
type analyzer struct {
	ctx   context.Context
	rules *rules
	// compared are the constants that rules compare with each path.
	compared constants
	gaps     map[Gap]bool
	results  map[string]*result
	err      error // the first error of reading a document
	visited  int
	// opaque says that rules read only two things of a system role: its scope, and whether it has a looked-up
	// permission.
	opaque bool
	// holdingLoops are the expressions that iterate over the assignments. loops counts the loops in the current body.
	holdingLoops []*ast.Location
	loops        int
	// searches are the expressions that iterate over the permissions to grant, or look one up.
	searches []*ast.Location
	location *ast.Location
	negated  bool
}

// result is the outcome of a rule or of a function call.
type result struct {
	value *value
	// defined are the needs of a value being defined or undefined. allows are the needs of an answer that allows.
	defined, allows needs
}

// scope has the variables of a body, and the rules whose needs the body has counted.
type scope struct {
	vars    map[ast.Var]*value
	counted map[string]bool
	// ofRule: a rule without parameters has the body. iterates: the body iterates over open values.
	// searches: it searches the permissions to grant.
	ofRule, iterates, searches bool
}

func newScope() *scope { return &scope{vars: map[ast.Var]*value{}, counted: map[string]bool{}} }

// inner returns the scope of a nested body.
func (s *scope) inner() *scope { return &scope{vars: maps.Clone(s.vars), counted: map[string]bool{}} }

// follow analyzes a rule with everything it refers to. It returns the needs of its allowing.
func (a *analyzer) follow(name string) needs {
	rules := a.rules.compiler.GetRulesExact(ast.MustParseRef(name))
	if len(rules) == 0 {
		return needs{}
	}
	return a.followDefinitions(rules, nil).allows
}

// gap notes a gap at the current expression.
func (a *analyzer) gap(reads, leftOut string) { a.gaps[gap(a.location, reads, leftOut)] = true }

// gapOf notes a gap for each part of the input from which the values may come, and returns an unknown value.
func (a *analyzer) gapOf(leftOut string, values ...*value) *value {
	for _, v := range values {
		switch v.shape {
		case open, members:
			for _, path := range v.paths {
				a.gap(path, leftOut)
			}
		case assignments, assignment:
			a.gap("subject.here", leftOut)
		case systemRole:
			a.opaque = false
			a.gap("grants", leftOut)
		case printed:
			a.gap("a text made of the question", leftOut)
		case elements, size:
			a.gap("a set of members of the input", leftOut)
		case list, object:
			a.gapOf(leftOut, v.parts()...)
		case unknown:
			a.gap("a value that is not followed", leftOut)
		case plain:
			if v.needs != (needs{}) {
				a.gap("subject.here", leftOut)
			}
		}
	}
	return &value{shape: unknown}
}

// followRule returns the result of a rule without parameters, and caches it.
func (a *analyzer) followRule(ref ast.Ref) *result {
	name := ref.String()
	if a.results[name] == nil {
		location, negated, loops := a.location, a.negated, a.loops
		a.negated = false
		a.results[name] = &result{value: &value{shape: unknown}} // during the analysis
		a.results[name] = a.followDefinitions(a.rules.compiler.GetRulesExact(ref), nil)
		a.location, a.negated, a.loops = location, negated, loops
	}
	return a.results[name]
}

// followDefinitions returns the joined result of the definitions of a rule, or of a function called with args.
func (a *analyzer) followDefinitions(rules []*ast.Rule, args []*value) *result {
	out, isDefault := &result{}, false
	for _, rule := range rules {
		r := a.followDefinition(rule, args)
		out.value = join(out.value, r.value)
		out.defined, out.allows = out.defined.or(r.defined), out.allows.or(r.allows)
		isDefault = isDefault || rule.Default
	}
	if out.value.shape != elements && !out.value.isOne() && out.defined != (needs{}) {
		out.value = out.value.withNeeds(out.defined.either())
	}
	if isDefault {
		out.defined = needs{}
	}
	return out
}

// followDefinition returns the result of one definition with its else branches. That of a partial set is the set of its
// element.
func (a *analyzer) followDefinition(rule *ast.Rule, args []*value) *result {
	a.location = rule.Location
	if a.visited++; a.visited > mostFollowed {
		a.gap("input", "what so many calls of functions tell apart")
		return &result{value: &value{shape: unknown}}
	}
	out := &result{}
	earlier := needs{} // of choosing one of the earlier branches
	for r := rule; r != nil; r = r.Else {
		s := newScope()
		s.ofRule = len(args) == 0
		for i, arg := range rule.Head.Args {
			a.bind(s, arg, args[i])
		}
		n := a.body(s, r.Body)
		v := a.head(s, r)
		branch := n.and(earlier.not())
		if out.defined = out.defined.or(branch); mayAllow(v) {
			out.allows = out.allows.or(branch)
		}
		if r.Head.DocKind() == ast.PartialSetDoc {
			v.needs, out.defined = n, needs{}
		}
		out.value = join(out.value, v)
		earlier = earlier.orElse(n)
	}
	return out
}

// mayAllow says whether a value may be an answer with allow true.
func mayAllow(v *value) bool {
	allow := v.named["allow"]
	return v.shape != object || allow == nil || !allow.isPlain() || allow.made || allow.consts["true"] != nil
}

// isOne says whether a value is a single constant.
func (v *value) isOne() bool { return v.isPlain() && !v.flat().made && len(v.flat().consts) < 2 }

// head returns the value of a branch: for a partial set, the set of its element.
func (a *analyzer) head(s *scope, r *ast.Rule) *value {
	switch r.Head.DocKind() {
	case ast.PartialSetDoc:
		element := a.term(s, r.Head.Key)
		if s.searches { // the set may be printed, or be empty or not
			element = &value{shape: printed}
		}
		return &value{shape: elements, items: []*value{element}}
	case ast.PartialObjectDoc:
		for _, t := range r.Head.Reference[1:] {
			if v := a.term(s, t); !v.isPlain() {
				return a.gapOf("members of a rule by such names", v)
			}
		}
	}
	if r.Head.Value == nil {
		return &value{}
	}
	v := a.term(s, r.Head.Value)
	if s.iterates && (r.Head.DocKind() == ast.PartialObjectDoc || !ast.IsConstant(r.Head.Value.Value) && !v.isOne()) {
		return a.gapOf("whether it has several values", &value{shape: unknown})
	}
	return v
}

// body analyzes the expressions of a body, which must all hold, and returns their needs.
func (a *analyzer) body(s *scope, body ast.Body) (n needs) {
	location, loops := a.location, a.loops
	for _, e := range body {
		if e.Location != nil && e.Location.File != "" {
			location = e.Location
		}
		a.location = location
		n = n.and(a.expr(s, e))
	}
	if a.location = location; a.loops > loops && n.held.no > 0 {
		a.gap("subject.here", "what holds of each assignment by what the others are")
	}
	return n
}

// expr analyzes one expression and returns its needs.
func (a *analyzer) expr(s *scope, e *ast.Expr) needs {
	negated := a.negated
	a.negated = negated || e.Negated
	defer func() { a.negated = negated }()
	c := &expression{analyzer: a, scope: s}
	switch terms := e.Terms.(type) {
	case *ast.Term:
		c.require(c.term(terms))
	case *ast.Every:
		domain := c.term(terms.Domain)
		if !domain.isPlain() {
			c.gapOf("what holds of every one of them", domain)
		}
		inner := s.inner()
		for _, t := range []*ast.Term{terms.Key, terms.Value} {
			if t != nil {
				a.bind(inner, t, domain.flat())
			}
		}
		if below := a.body(inner, terms.Body); below != (needs{}) {
			c.gap("subject.here", "what holds of every one of some values")
		}
	case []*ast.Term:
		c.call(terms)
	}
	if e.Negated {
		return c.needs.not()
	}
	return c.needs
}

// require notes that the value of an expression must be true.
func (c *expression) require(v *value) {
	switch v.shape {
	case unknown:
		c.gapOf("whether it is true", v)
	case plain:
		c.needs = c.needs.and(v.needs.either())
	}
}

// expression is the analysis of one expression: its scope, and the needs so far.
type expression struct {
	*analyzer
	scope *scope
	needs needs
}

// term returns the value of a term outside a body. Needs are a gap there.
func (a *analyzer) term(s *scope, t *ast.Term) *value {
	c := &expression{analyzer: a, scope: s}
	v := c.term(t)
	if c.needs != (needs{}) {
		a.gap("subject.here", "what is held, in the value of a rule")
	}
	return v
}

// term returns the value of a term, and adds its needs to the expression.
func (c *expression) term(t *ast.Term) *value {
	switch v := t.Value.(type) {
	case ast.Boolean, ast.Null, ast.String, ast.Number:
		return constant(v)
	case ast.Var:
		return c.variable(v)
	case ast.Ref:
		return c.ref(v)
	case *ast.Array:
		out := &value{shape: list}
		v.Foreach(func(t *ast.Term) { out.items = append(out.items, c.term(t)) })
		return out
	case ast.Set:
		out := &value{shape: elements}
		v.Foreach(func(t *ast.Term) { out.items = append(out.items, c.term(t)) })
		if len(out.items) > 1 && !out.isPlain() { // a set merges equal elements
			return c.gapOf("how many of them are equal", out)
		}
		return out
	case ast.Object:
		return c.object(v)
	case *ast.SetComprehension:
		return c.comprehension(v.Body, true, v.Term)
	case *ast.ArrayComprehension:
		return c.comprehension(v.Body, false, v.Term)
	case *ast.ObjectComprehension:
		return c.comprehension(v.Body, false, v.Key, v.Value)
	}
	return &value{shape: unknown}
}

// variable returns the value of a variable; input is a gap, and a variable without a value is unknown.
func (c *expression) variable(v ast.Var) *value {
	if bound := c.scope.vars[v]; bound != nil {
		return bound
	}
	if v.Equal(ast.InputRootDocument.Value) {
		return c.wholeInput("")
	}
	return &value{shape: unknown}
}

// object returns the value of an object with constant keys. Other keys are a gap.
func (c *expression) object(o ast.Object) *value {
	out := &value{shape: object, named: map[string]*value{}, consts: map[string]ast.Value{}}
	for _, k := range o.Keys() {
		name := c.term(k)
		if !name.isPlain() {
			return c.gapOf("members of an object by such names", name)
		}
		flat := name.flat()
		maps.Copy(out.consts, flat.consts)
		out.made = out.made || flat.made
		out.named[strings.Trim(k.String(), `"`)] = c.term(o.Get(k))
	}
	return out
}

// comprehension returns the value of a comprehension. A list or an object over open values is a gap, since it has a
// length and an order.
func (c *expression) comprehension(body ast.Body, isSet bool, terms ...*ast.Term) *value {
	inner := c.scope.inner()
	out := &value{shape: elements, needs: c.body(inner, body)}
	for _, t := range terms {
		out.items = append(out.items, c.analyzer.term(inner, t))
	}
	isOpen := !out.isPlain()
	for name, v := range inner.vars {
		isOpen = isOpen || c.scope.vars[name] == nil && !v.isPlain()
	}
	switch {
	case !isOpen:
		flat := out.flat()
		flat.made = flat.made || !isSet // a list may have any length
		return flat
	case !isSet:
		return c.gapOf("how many there are, and in which order", out)
	}
	return out
}

// wholeInput notes a gap for a rule that reads the whole input or a whole part of it.
func (c *expression) wholeInput(part string) *value {
	c.gap(cmp.Or(part, "input"), "all questions: the rule reads more than one value")
	return &value{shape: unknown}
}
