package matrix

import (
	"context"

	"github.com/portcullis-authz/portcullis/policies/engine"
)

// CompareAll is Compare without the rules and entry points left out that are equal.
func CompareAll(ctx context.Context, old, fresh *engine.Set) ([]Difference, error) {
	c, err := newComparison(ctx, old, fresh)
	if err != nil {
		return nil, err
	}
	for _, r := range c.rules {
		for _, g := range r.groups {
			g.same = false
		}
	}
	var out []Difference
	for _, entry := range engine.EntryPoints() {
		d, err := c.compare(ctx, entry)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

// Constants are the constants with which parts of the input are compared.
func Constants(ctx context.Context, set *engine.Set) (map[string][]string, []Gap, bool) {
	c, err := newComparison(ctx, set, set)
	if err != nil {
		panic(err)
	}
	out := map[string][]string{}
	for path, values := range c.consts {
		for text := range values {
			out[path] = append(out[path], text)
		}
	}
	return out, c.gaps, c.opaque
}
