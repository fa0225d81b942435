package proof

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/limits"
)

// testsWithin bounds a tree's own tests.
const testsWithin = 30 * time.Second

// Load compiles a tree and has it prove itself. The error is Problems: all that is wrong
// with the tree as far as it could be read. It is an engine.Loader.
func Load(ctx context.Context, src *policies.Source) (*engine.Set, error) {
	set, _, err := Prove(ctx, src)
	return set, err
}

// Prove is Load for a report: tests is how many tests of its own the tree has passed.
func Prove(ctx context.Context, src *policies.Source) (set *engine.Set, tests int, err error) {
	return prove(ctx, src, testsWithin)
}

// Compile returns a tree without having it prove itself: its tests are parsed only. The warnings are of what a proof
// would find in its names; the error is Problems.
func Compile(ctx context.Context, src *policies.Source) (set *engine.Set, warnings []string, err error) {
	defer refusePanic(&set, &err)
	var p, warned Problems
	c, list := read(ctx, src, &p)
	if c == nil || len(p) > 0 {
		return nil, nil, p.err()
	}
	unknownActions(c.serving, list.actions, warned.atLocation)
	if set = newSet(ctx, src, c, list, &p); set == nil {
		return nil, nil, p.err()
	}
	slices.Sort(warned)
	return set, slices.Compact(warned), nil
}

// refusePanic refuses a tree by which the compiler panics.
func refusePanic(set **engine.Set, err *error) {
	if r := recover(); r != nil {
		*set, *err = nil, Problems{oneLine(fmt.Sprintf("policy tree: the compiler panicked: %v", r))}
	}
}

// read compiles a tree and reads its catalogue; nil where it has to stop at a problem.
func read(ctx context.Context, src *policies.Source, p *Problems) (*compiled, *catalogue) {
	if checkSchemas(src, p); len(*p) > 0 {
		return nil, nil
	}
	data, docs := readData(src, p)
	list := readCatalogue(ctx, src, docs, p)
	c := compile(ctx, src, data, p)
	if c == nil {
		return nil, nil
	}
	checkEntries(c.serving, p)
	checkApps(c.serving, c.apps, p)
	return c, list
}

// newSet returns nil for a tree with problems, and adds them.
func newSet(ctx context.Context, src *policies.Source, c *compiled, list *catalogue, p *Problems) *engine.Set {
	set, err := engine.NewSet(ctx, engine.Compiled{
		Revision: src.Revision, Bundle: src.Bundle, Compiler: c.serving, Store: c.store, Routes: list.routes, Roles: list.roles,
		Actions: list.actions, Servers: list.servers, Strict: list.strict, Apps: c.apps, Source: src,
	})
	if err == nil {
		return set
	}
	for line := range strings.Lines(err.Error()) {
		p.add("%s", strings.TrimSuffix(line, "\n"))
	}
	return nil
}

// prove compiles a tree, holds it against the catalogue and the probes, and runs its tests.
func prove(ctx context.Context, src *policies.Source, limit time.Duration) (set *engine.Set, tests int, err error) {
	defer refusePanic(&set, &err)
	var p Problems
	c, list := read(ctx, src, &p)
	if c == nil {
		return nil, 0, p.err()
	}
	t := c.withTests(ctx, src, &p)
	if t == nil {
		return nil, 0, p.err()
	}
	unknownActions(c.serving, list.actions, p.atLocation)
	limits.Charge(t.Compiler, p.atLocation)
	if err := p.err(); err != nil {
		return nil, 0, err
	}
	asker := &prober{rules: c.serving, limit: limit, reported: map[string]bool{}, problems: &p}
	if asker.set = newSet(ctx, src, c, list, &p); asker.set == nil {
		return nil, 0, p.err()
	}
	asker.probe(ctx, list.routes)
	asker.apps(ctx)
	tests = runTests(ctx, t, limit, &p)
	if err := p.err(); err != nil {
		return nil, 0, err
	}
	return asker.set, tests, nil
}
