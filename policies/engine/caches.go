package engine

import (
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// baseData answers OPA's reads of data from the set's own data, which never changes:
// it takes the place of a cache that every evaluation would fill anew.
type baseData struct{ root ast.Value }

// Get implements topdown.BaseCache; nil sends OPA to the store.
func (d baseData) Get(ref ast.Ref) ast.Value {
	if d.root == nil || len(ref) < 2 { // the store leaves out of data itself what is OPA's own
		return nil
	}
	v, err := d.root.Find(ref[1:])
	if err != nil {
		return nil
	}
	return v
}

// Put implements topdown.BaseCache.
func (baseData) Put(ast.Ref, ast.Value) {}

// Bounds of what ruleValues goes through one by one: a decision of the embedded tree
// asks for ten rules of three parts.
const (
	fewRules = 24
	fewTerms = 96
)

// ruleValues holds the values of rules during one evaluation, without OPA's map for
// each part of a rule's name. It is for the few rules of a usual decision; beyond
// that, and under `with`, OPA's own cache takes over.
type ruleValues struct {
	rules []ruleValue
	names []*ast.Term
	large topdown.VirtualCache
}

type ruleValue struct {
	from, to int // its name, in names
	value    *ast.Term
}

func newRuleValues() any {
	return &ruleValues{rules: make([]ruleValue, 0, fewRules), names: make([]*ast.Term, 0, fewTerms)}
}

// valuesPool lends ruleValues to evaluations.
type valuesPool struct{ sync.Pool }

func (p *valuesPool) lend() *ruleValues { return p.Get().(*ruleValues) }

// back takes them back empty: what is kept for the next evaluation is room only. An
// evaluation that panics gives nothing back.
func (p *valuesPool) back(c *ruleValues) {
	clear(c.rules)
	clear(c.names)
	c.rules, c.names, c.large = c.rules[:0], c.names[:0], nil
	p.Put(c)
}

func (c *ruleValues) find(ref ast.Ref) *ruleValue {
next:
	for i := range c.rules {
		r := &c.rules[i]
		if r.to-r.from != len(ref) {
			continue
		}
		for j := len(ref) - 1; j >= 0; j-- { // rules of one package differ in their last part
			if a, b := c.names[r.from+j], ref[j]; a != b && !a.Equal(b) {
				continue next
			}
		}
		return r
	}
	return nil
}

// Get implements topdown.VirtualCache: a value, or that the rule is known to be undefined.
func (c *ruleValues) Get(ref ast.Ref) (*ast.Term, bool) {
	if c.large != nil {
		return c.large.Get(ref)
	}
	if r := c.find(ref); r != nil {
		return r.value, r.value == nil
	}
	return nil, false
}

// Put implements topdown.VirtualCache; nil is undefined. The reference is OPA's to
// use again: its terms are kept, not the slice.
func (c *ruleValues) Put(ref ast.Ref, value *ast.Term) {
	if c.large == nil && (len(c.rules) == fewRules || len(c.names)+len(ref) > fewTerms) {
		c.enlarge()
	}
	if c.large != nil {
		c.large.Put(ref, value)
		return
	}
	if r := c.find(ref); r != nil {
		r.value = value
		return
	}
	from := len(c.names)
	c.names = append(c.names, ref...)
	c.rules = append(c.rules, ruleValue{from, len(c.names), value})
}

func (c *ruleValues) enlarge() {
	c.large = topdown.NewVirtualCache()
	for _, r := range c.rules {
		c.large.Put(c.names[r.from:r.to], r.value)
	}
}

// Push implements topdown.VirtualCache.
func (c *ruleValues) Push() {
	if c.large == nil {
		c.enlarge()
	}
	c.large.Push()
}

// Pop implements topdown.VirtualCache.
func (c *ruleValues) Pop() { c.large.Pop() }

// Keys implements topdown.VirtualCache; OPA asks for them only where it explains an evaluation.
func (c *ruleValues) Keys() []ast.Ref {
	if c.large == nil {
		c.enlarge()
	}
	return c.large.Keys()
}
