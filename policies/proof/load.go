package proof

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/builtins"
	"github.com/portcullis-authz/portcullis/policies/engine"
)

// testsWithin bounds a tree's own tests.
const testsWithin = 30 * time.Second

// Load compiles a tree and has it prove itself. The error is Problems: all that is wrong
// with the tree as far as it could be read. It is an engine.Loader.
func Load(ctx context.Context, src *policies.Source) (*engine.Set, error) {
	set, _, err := prove(ctx, src, testsWithin)
	return set, err
}

// Prove is Load for a report: tests is how many tests of its own the tree has passed.
func Prove(ctx context.Context, src *policies.Source) (set *engine.Set, tests int, err error) {
	return prove(ctx, src, testsWithin)
}

func prove(ctx context.Context, src *policies.Source, within time.Duration) (set *engine.Set, tests int, err error) {
	defer func() {
		if r := recover(); r != nil {
			set, tests, err = nil, 0, Problems{oneLine(fmt.Sprintf("policy tree: the compiler panicked: %v", r))}
		}
	}()
	var p Problems
	if checkSchemas(src, &p); len(p) > 0 {
		return nil, 0, p
	}
	data, docs := readData(src, &p)
	list := readCatalogue(ctx, src, docs, &p)
	c, err := compile(ctx, src, data, &p)
	if err != nil {
		return nil, 0, p.orElse(err)
	}
	checkEntries(c.serving, &p)
	checkApps(c.serving, c.apps, &p)
	builtins.Charge(c.testing, func(at *ast.Location, problem string) { p.at(at.File, at.Row, "%s", problem) })
	if err := p.err(); err != nil {
		return nil, 0, err
	}
	to := &prober{rules: c.serving, within: within, told: map[string]bool{}, p: &p}
	to.set, err = engine.NewSet(ctx, engine.Compiled{
		Revision: src.Revision, Compiler: c.serving, Store: c.store, Routes: list.routes, Roles: list.roles,
		Actions: list.actions, Strict: list.strict, Apps: c.apps,
	})
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			p.add("%s", strings.TrimSuffix(line, "\n"))
		}
		return nil, 0, p.err()
	}
	to.probe(ctx, list.routes)
	to.apps(ctx)
	tests = runTests(ctx, c, within, &p)
	if err := p.err(); err != nil {
		return nil, 0, err
	}
	return to.set, tests, nil
}
