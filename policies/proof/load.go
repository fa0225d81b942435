package proof

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/limits"
)

// testsWithin bounds all tests of a tree together.
const testsWithin = 30 * time.Second

// Load compiles a tree, probes it and runs its tests. The error is Problems: all reasons to reject the tree that it
// found before it had to stop. Load is an engine.Loader.
func Load(ctx context.Context, src *policies.Source) (*engine.Set, error) {
	set, _, err := Prove(ctx, src)
	return set, err
}

// LoadProven compiles a tree whose probes and tests have passed before, and runs none of them. LoadProven is an
// engine.Loader.
func LoadProven(ctx context.Context, src *policies.Source) (*engine.Set, error) {
	set, _, err := Compile(ctx, src)
	return set, err
}

// Prove is Load for a report: tests is the number of tests that passed.
func Prove(ctx context.Context, src *policies.Source) (set *engine.Set, tests int, err error) {
	return prove(ctx, src, testsWithin)
}

// Compile compiles a tree without probes and tests: its tests are only parsed. The warnings name unknown actions, for
// which Load rejects a tree. The error is Problems.
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

// refusePanic turns a panic of the compiler into Problems.
func refusePanic(set **engine.Set, err *error) {
	if r := recover(); r != nil {
		*set, *err = nil, Problems{policies.Problem("policy tree: the compiler panicked: %v", r)}
	}
}

// read compiles a tree and reads its catalogue. It returns nil if a problem keeps the tree from being compiled.
func read(ctx context.Context, src *policies.Source, p *Problems) (*compiled, *catalogue) {
	if checkSchemas(src, p); len(*p) > 0 {
		return nil, nil
	}
	data, docs := readData(src, p)
	list := readCatalogue(ctx, src, docs, p)
	c := compile(ctx, src, data, docs, p)
	if c == nil {
		return nil, nil
	}
	checkEntries(c.serving, p)
	checkApps(c.serving, c.apps, p)
	checkTools(c.serving, c.tools, p)
	return c, list
}

// newSet returns the engine's set of the tree. It adds the problems that the engine finds, and then returns nil.
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

// prove is Prove with a bound on each probe and on all tests together.
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
