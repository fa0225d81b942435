package compare

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// mostFollowed bounds the definitions that are gone through, those of a function once for each call.
const mostFollowed = 20_000

// flows goes through the rules of one tree as an evaluation does, with what is known of each value in place of the value. A
// closed list of forms is followed: what is not in it is a gap, so that a form which nobody has thought of hides nothing.
type flows struct {
	rules *rules
	// compared are the constants by the part of the input that is compared with them.
	compared map[string]map[string]ast.Value
	gaps     map[Gap]bool
	results  map[string]*result
	document func(ref ast.Ref) (ast.Value, error)
	err      error // of the first document that could not be read
	visited  int
	// opaque says that nothing is read of a system role but whether it has a scope or a permission that is looked up.
	opaque bool
	// holders are the places that go through what is held, goes how many such are in the body.
	holdingLoops []*ast.Location
	loops        int
	location     *ast.Location
	negated      bool
}

// result is what a rule or a function gives.
type result struct {
	value *value
	// defined keep it defined or not, allows keep an answer that allows one that allows.
	defined, allows needs
}

// scope is what is known in a body: its variables, and the rules of which the needs are counted.
type scope struct {
	vars    map[ast.Var]*value
	counted map[string]bool
}

func (s *scope) inner() *scope { return &scope{maps.Clone(s.vars), map[string]bool{}} }

func newFlows(r *rules, document func(ast.Ref) (ast.Value, error)) *flows {
	return &flows{
		rules: r, compared: map[string]map[string]ast.Value{}, gaps: map[Gap]bool{}, results: map[string]*result{}, document: document, opaque: true,
	}
}

// follow goes through what is reached from a rule, and returns what keeps it from allowing, or from not allowing.
func (f *flows) follow(name string) needs {
	ref := ast.MustParseRef(name)
	if rules := f.rules.compiler.GetRulesExact(ref); len(rules) > 0 {
		return f.followDefinitions(rules, nil).allows
	}
	for _, rule := range f.rules.compiler.GetRules(ref) {
		f.followDefinition(rule, nil)
	}
	return needs{}
}

func (f *flows) gap(reads, leftOut string) { f.gaps[gap(f.location, reads, leftOut)] = true }

// gapOf notes a gap about each part of the input of which a value may be, and returns a value of which any use is one.
func (f *flows) gapOf(leftOut string, values ...*value) *value {
	for _, v := range values {
		switch v.shape {
		case open, members:
			for _, path := range v.paths {
				f.gap(path, leftOut)
			}
		case assignments, assignment:
			f.gap("subject.here", leftOut)
		case systemRole:
			f.opaque = false
			f.gap("grants", leftOut)
		case printed:
			f.gap("a text made of the question", leftOut)
		case elements, size:
			f.gap("a set of members of the input", leftOut)
		case list, object:
			f.gapOf(leftOut, slices.Concat(v.items, slices.Collect(maps.Values(v.named)))...)
		case unknown:
			f.gap("a value that is not followed", leftOut)
		case plain:
			if v.needs != (needs{}) {
				f.gap("subject.here", leftOut)
			}
		}
	}
	return &value{shape: unknown}
}

// rule returns what a rule without parameters gives.
func (f *flows) followRule(ref ast.Ref) *result {
	name := ref.String()
	if f.results[name] == nil {
		location, negated, loops := f.location, f.negated, f.loops
		f.negated = false
		f.results[name] = &result{value: &value{shape: unknown}} // while it is gone through
		f.results[name] = f.followDefinitions(f.rules.compiler.GetRulesExact(ref), nil)
		f.location, f.negated, f.loops = location, negated, loops
	}
	return f.results[name]
}

// give returns what the definitions of a rule, or of a function with these parameters, give.
func (f *flows) followDefinitions(rules []*ast.Rule, args []*value) *result {
	out, isDefault := &result{}, false
	for _, rule := range rules {
		r := f.followDefinition(rule, args)
		out.value = join(out.value, r.value)
		out.defined, out.allows = out.defined.or(r.defined), out.allows.or(r.allows)
		isDefault = isDefault || rule.Default
	}
	if out.value.shape != elements && !out.value.isOne() && out.defined != (needs{}) {
		out.value = out.value.withNeeds(out.defined.whole())
	}
	if isDefault {
		out.defined = needs{}
	}
	return out
}

// definition returns what one definition gives, of a partial set the set of its element.
func (f *flows) followDefinition(rule *ast.Rule, args []*value) *result {
	f.location = rule.Location
	if f.visited++; f.visited > mostFollowed {
		f.gap("input", "what so many calls of functions tell apart")
		return &result{value: &value{shape: unknown}}
	}
	out := &result{}
	before, chosen := 0, 0 // what keeps the branches before from being chosen, and what keeps one of them chosen
	for r := rule; r != nil; r = r.Else {
		s := &scope{map[ast.Var]*value{}, map[string]bool{}}
		for i, arg := range rule.Head.Args {
			f.bind(s, arg, args[i])
		}
		n := f.body(s, r.Body)
		v := f.head(s, r)
		branch := needs{n.yes + before, max(n.no, chosen)}
		if out.defined = out.defined.or(branch); mayAllow(v) {
			out.allows = out.allows.or(branch)
		}
		if r.Head.DocKind() == ast.PartialSetDoc {
			v.needs, out.defined = n, needs{}
		}
		out.value = join(out.value, v)
		chosen = max(chosen, n.yes+before)
		before += n.no
	}
	return out
}

// mayAllow says whether an answer may allow.
func mayAllow(v *value) bool {
	allow := v.named["allow"]
	return v.shape != object || allow == nil || !allow.isPlain() || allow.made || allow.consts["true"] != nil
}

// isOne says whether a value is a constant.
func (v *value) isOne() bool { return v.isPlain() && !v.flat().made && len(v.flat().consts) < 2 }

// head returns the value of a branch.
func (f *flows) head(s *scope, r *ast.Rule) *value {
	switch r.Head.DocKind() {
	case ast.PartialSetDoc:
		return &value{shape: elements, items: []*value{f.term(s, r.Head.Key)}}
	case ast.PartialObjectDoc:
		for _, t := range r.Head.Reference[1:] {
			if v := f.term(s, t); !v.isPlain() {
				return f.gapOf("members of a rule by such names", v)
			}
		}
	}
	if r.Head.Value == nil {
		return &value{}
	}
	return f.term(s, r.Head.Value)
}

// body goes through conditions that hold together.
func (f *flows) body(s *scope, body ast.Body) (n needs) {
	location, loops := f.location, f.loops
	for _, e := range body {
		if e.Location != nil && e.Location.File != "" {
			location = e.Location
		}
		f.location = location
		n = n.and(f.expr(s, e))
	}
	if f.location = location; f.loops > loops && n.no > 0 {
		f.gap("subject.here", "what holds of each assignment by what the others are")
	}
	return n
}

func (f *flows) expr(s *scope, e *ast.Expr) needs {
	negated := f.negated
	f.negated = negated || e.Negated
	defer func() { f.negated = negated }()
	c := &conditions{flows: f, scope: s}
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
				f.bind(inner, t, domain.flat())
			}
		}
		if below := f.body(inner, terms.Body); below != (needs{}) {
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

// holds notes that a value has to be true.
func (c *conditions) require(v *value) {
	switch v.shape {
	case unknown:
		c.gapOf("whether it is true", v)
	case plain:
		c.needs = c.needs.and(v.needs.whole())
	}
}

// conditions is one expression, with what it needs.
type conditions struct {
	*flows
	scope *scope
	needs needs
}

// term returns what a term is outside an expression of its own.
func (f *flows) term(s *scope, t *ast.Term) *value {
	c := &conditions{flows: f, scope: s}
	v := c.term(t)
	if c.needs != (needs{}) {
		f.gap("subject.here", "what is held, in the value of a rule")
	}
	return v
}

func (c *conditions) term(t *ast.Term) *value {
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
		if len(out.items) > 1 && !out.isPlain() { // equal ones are one
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

func (c *conditions) variable(v ast.Var) *value {
	if bound := c.scope.vars[v]; bound != nil {
		return bound
	}
	if v.Equal(ast.InputRootDocument.Value) {
		return c.wholeInput("")
	}
	return &value{shape: unknown}
}

func (c *conditions) object(o ast.Object) *value {
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

// comprehension returns what one gives. A list, and an object, that rests on open values is not followed: it has a length and
// an order.
func (c *conditions) comprehension(body ast.Body, isSet bool, terms ...*ast.Term) *value {
	inner := c.scope.inner()
	out := &value{shape: elements, needs: c.body(inner, body)}
	for _, t := range terms {
		out.items = append(out.items, c.flows.term(inner, t))
	}
	isOpen := !out.isPlain()
	for name, v := range inner.vars {
		isOpen = isOpen || c.scope.vars[name] == nil && !v.isPlain()
	}
	switch {
	case !isOpen:
		flat := out.flat()
		flat.made = flat.made || !isSet // a list may be of any length
		return flat
	case !isSet:
		return c.gapOf("how many there are, and in which order", out)
	}
	return out
}

// whole notes that a rule reads more than one value of the input.
func (c *conditions) wholeInput(part string) *value {
	c.gap(cmp.Or(part, "input"), "all questions: the rule reads more than one value")
	return &value{shape: unknown}
}
