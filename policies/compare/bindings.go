package compare

import (
	"maps"

	"github.com/open-policy-agent/opa/v1/ast"
)

// bind has the variables of a term stand for parts of a value, and compares what is bound already.
func (f *flows) bind(s *scope, t *ast.Term, v *value) { (&conditions{flows: f, scope: s}).bind(t, v) }

func (c *conditions) bind(t *ast.Term, v *value) {
	switch term := t.Value.(type) {
	case ast.Var:
		if bound := c.scope.vars[term]; bound != nil {
			c.compare(bound, v)
			return
		}
		c.scope.vars[term] = v
	case *ast.Array:
		if v.shape == list && len(v.items) != term.Len() {
			v = &value{} // it never matches
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

// with returns a part of a value that needs as much as the whole.
func (v *value) withNeeds(n needs) *value {
	if n == (needs{}) || v.shape == elements {
		return v
	}
	out := *v
	out.needs = out.needs.or(n)
	return &out
}

// unbound says whether a term has variables that no value is known of.
func (c *conditions) unbound(t *ast.Term) (isUnbound bool) {
	ast.WalkVars(t, func(v ast.Var) bool {
		root := v.Equal(ast.InputRootDocument.Value) || v.Equal(ast.DefaultRootDocument.Value)
		isUnbound = isUnbound || c.scope.vars[v] == nil && !root
		return false
	})
	return isUnbound
}

// compare notes the constants with which open values are compared. Anything else than a comparison with constants is a gap.
func (c *conditions) compare(a, b *value) {
	if !a.isPlain() {
		a, b = b, a
	}
	switch {
	case a.isPlain() && b.isPlain(), a.neverEqual(b):
	case a.shape == plain && b.shape == plain: // of rules that rest on what is held
		c.needs = c.needs.and(a.needs.whole()).and(b.needs.whole())
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

// never says whether two values are never equal, whatever stands in the open places: some part of both is plain, and without
// a constant in common.
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
	for name := range v.consts {
		if other.consts[name] != nil {
			return false
		}
	}
	return len(v.consts) > 0 && len(other.consts) > 0
}

// constants notes those of a plain value, with which an open one is compared.
func (c *conditions) noteConstants(fixed, v *value) {
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
			noted = append(noted, anyScope) // it is one of the scopes, and another one may be compared, too
		}
		for _, read := range noted {
			if c.compared[read] == nil {
				c.compared[read] = map[string]ast.Value{}
			}
			maps.Copy(c.compared[read], flat.consts)
		}
	}
}

// followed says whether the questions have a value for the constant, and one beside it. Of the texts that stand for any other
// one none may be a constant.
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

func numeric(path string) bool { return path == "now" || path == "grant.until" }
