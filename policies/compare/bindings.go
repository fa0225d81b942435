package compare

import (
	"github.com/open-policy-agent/opa/v1/ast"
)

// bind binds the variables of a term to the parts of a value. A variable with a value is compared instead.
func (a *analyzer) bind(s *scope, t *ast.Term, v *value) {
	(&expression{analyzer: a, scope: s}).bind(t, v)
}

func (c *expression) bind(t *ast.Term, v *value) {
	switch term := t.Value.(type) {
	case ast.Var:
		if bound := c.scope.vars[term]; bound != nil {
			c.compare(bound, v)
			return
		}
		c.scope.vars[term] = v
	case *ast.Array:
		if v.shape == list && len(v.items) != term.Len() {
			v = &value{} // lists of two lengths never match
		}
		for i := range term.Len() {
			switch {
			case v.shape == list:
				c.bind(term.Elem(i), v.items[i].withNeeds(v.needs))
			case v.shape == plain && v.needs == (needs{}), v.shape == printed:
				c.bind(term.Elem(i), v)
			default:
				c.bind(term.Elem(i), c.gapOf("its parts", v))
			}
		}
	default:
		if _, isRef := t.Value.(ast.Ref); !isRef && c.unbound(t) {
			v = c.gapOf("its parts", v)
			ast.WalkVars(t, func(name ast.Var) bool {
				if c.scope.vars[name] == nil {
					c.scope.vars[name] = v
				}
				return false
			})
			return
		}
		c.compare(c.term(t), v)
	}
}

// withNeeds returns a part of a value with the needs of the whole added.
func (v *value) withNeeds(n needs) *value {
	if n == (needs{}) || v.shape == elements {
		return v
	}
	out := *v
	out.needs = out.needs.or(n)
	return &out
}

// unbound says whether a term has a variable without a value.
func (c *expression) unbound(t *ast.Term) (isUnbound bool) {
	ast.WalkVars(t, func(v ast.Var) bool {
		root := v.Equal(ast.InputRootDocument.Value) || v.Equal(ast.DefaultRootDocument.Value)
		isUnbound = isUnbound || c.scope.vars[v] == nil && !root
		return false
	})
	return isUnbound
}

// compare notes the constants that rules compare open values with. Any other comparison of open values is a gap.
func (c *expression) compare(a, b *value) {
	if !a.isPlain() {
		a, b = b, a
	}
	switch {
	case a.isPlain() && b.isPlain(), a.neverEqual(b):
	case a.isPlain() && b.shape == open:
		c.noteConstants(a, b)
	case a.isPlain() && b.shape == size:
		c.compareSize("eq", b, a)
	case a.shape == list && b.shape == list:
		for i := range min(len(a.items), len(b.items)) {
			c.compare(a.items[i].withNeeds(a.needs), b.items[i].withNeeds(b.needs))
		}
	case a.isEmpty() && b.shape == elements, b.isEmpty() && a.shape == elements:
		c.needs = c.needs.and(a.needs.not()).and(b.needs.not())
	default:
		c.gapOf("what is compared with it", a, b)
	}
}

func (v *value) isEmpty() bool { return v.shape == elements && len(v.items) == 0 }

// neverEqual says whether two values differ in every question: some part of both is plain, and they share no constant
// there.
func (v *value) neverEqual(other *value) bool {
	if v.shape == list && other.shape == list {
		if len(v.items) != len(other.items) {
			return true
		}
		for i := range v.items {
			if v.items[i].neverEqual(other.items[i]) {
				return true
			}
		}
		return false
	}
	if !v.isPlain() || !other.isPlain() || v.shape != plain || other.shape != plain || v.made || other.made {
		return false
	}
	for _, one := range v.consts {
		for _, another := range other.consts {
			if ast.Compare(one, another) == 0 { // the texts 1 and 1.0 differ
				return false
			}
		}
	}
	return len(v.consts) > 0 && len(other.consts) > 0
}

// noteConstants notes the constants of a plain value for the paths of an open value compared with it.
func (c *expression) noteConstants(fixed, v *value) {
	flat := fixed.flat()
	for _, path := range v.paths {
		reads := path
		if path == "named scope" {
			reads = "principal.scopes"
		}
		switch {
		case flat.made:
			c.gap(reads, "what a built-in makes that it is compared with")
		case path == "action.patterns", path == "service word", path == "permission", path == "generalisation", path == "segment.resource":
			c.gap(path, "a constant that it is compared with")
		}
		for _, value := range flat.consts {
			if !followed(path, value) {
				c.gap(reads, "a constant that it is compared with: "+value.String())
			}
		}
		noted := []string{reads}
		switch path {
		case "segment.verb":
			noted = []string{"action.verb", "grant.permissions"}
		case "principal.scopes":
			noted = append(noted, anyScope) // one of several scopes: the comparison asks about another scope as well
		}
		for _, read := range noted {
			c.compared.add(read, flat.consts)
		}
	}
}

// followed says whether the questions include the constant and a value beside it. A number of a time must be a plain
// integer, and a text must not be a name that stands for any other.
func followed(path string, value ast.Value) bool {
	switch v := value.(type) {
	case ast.Number:
		number, whole := v.Int64()
		return !numeric(path) || whole && number >= 0 && string(v) == ast.IntNumberTerm(int(number)).Value.String()
	case ast.String:
		return !standsForAny(string(v))
	}
	return true
}

// numeric says whether the values of a path are times.
func numeric(path string) bool { return path == "now" || path == "grant.until" }
