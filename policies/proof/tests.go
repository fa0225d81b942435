package proof

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/topdown/cache"

	"github.com/portcullis-authz/portcullis/policies/limits"
)

// noTest is a pattern that no name matches.
const noTest = `[^\s\S]`

// compileTests compiles the tree with its tests as `opa test` does. OPA's runner renames tests of the same name, and
// rewrites tables so that each case calls a built-in. Its filter matches no test, so it runs none.
func compileTests(ctx context.Context, c *ast.Compiler, modules map[string]*ast.Module) error {
	results, err := tester.NewRunner().SetCompiler(c).SetModules(modules).Filter(noTest).RunTests(ctx, nil)
	if err != nil {
		return err
	}
	for range results { // empty; the runner closes the channel when it has compiled
	}
	replaceTestCase(c)
	return nil
}

// triedCase replaces the built-in that OPA's tables call for each case. OPA's built-in reports the case to tracers
// only, and with a tracer OPA records every step of every evaluation. That took a third of the time.
const triedCase = "engine.tried_case"

// replaceTestCase replaces the calls of OPA's built-in by calls of triedCase.
func replaceTestCase(c *ast.Compiler) {
	noted := ast.NewTerm((&ast.Builtin{Name: triedCase}).Ref())
	for _, module := range c.Modules {
		ast.WalkExprs(module, func(e *ast.Expr) bool {
			if e.IsCall() && e.Operator().Equal(ast.InternalTestCase.Ref()) {
				e.Terms.([]*ast.Term)[0] = noted
			}
			return false
		})
	}
}

// test is one test rule of a compiled tree.
type test struct {
	name  string
	path  ast.Ref
	rule  *ast.Rule
	table bool
}

// findTests returns the rules that `opa test` takes for tests, sorted by place.
func findTests(c *ast.Compiler) (out []test) {
	for _, module := range c.Modules {
		for _, rule := range module.Rules {
			ref := rule.Head.Ref().GroundPrefix()
			for i, part := range ref {
				var name string
				switch v := part.Value.(type) {
				case ast.Var:
					name = string(v)
				case ast.String:
					name = string(v)
				}
				if strings.HasPrefix(name, tester.TestPrefix) || strings.HasPrefix(name, tester.SkipTestPrefix) {
					out = append(out, test{
						name: ref[:i+1].String(), path: module.Package.Path.Extend(ref[:i+1]), rule: rule,
						table: rule.Head.DocKind() == ast.PartialObjectDoc,
					})
					break
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b test) int { return a.rule.Loc().Compare(b.rule.Loc()) })
	return out
}

// runTests runs the tree's tests, reports those that fail, and returns how many passed. An error of a built-in fails a
// test, as it fails a decision. The tests run one after the other: a reload uses one processor, and decisions have the
// others. doc.go says why OPA's runner does not run them.
func runTests(ctx context.Context, c *tested, limit time.Duration, p *Problems) (passed int) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	txn, err := c.store.NewTransaction(ctx)
	if err != nil {
		p.add("policy tests: %v", err)
		return 0
	}
	defer c.store.Abort(ctx, txn)
	cached := cache.NewInterQueryValueCache(ctx, nil) // json.match_schema keeps its parsed schemas here
	bounds := limits.NewBounds(limits.Pace{})
	for _, t := range findTests(c.Compiler) {
		bounds.Start(ctx, 2*limit, limits.OfTest) // ctx ends sooner: limit bounds all tests together
		if err := t.run(ctx, c, txn, cached, bounds); err != nil {
			p.report(t.rule.Location.File, t.rule.Location.Row, "test %s %v", t.name, err)
			continue
		}
		passed++
	}
	switch {
	case ctx.Err() != nil:
		p.add("policy tests: not finished within %v", limit)
	case passed == 0 && len(*p) == 0:
		p.add("policy tests: there are none: a tree without a test is rejected; add a rule test_… to a file …_test.rego")
	}
	return passed
}

// run returns nil for a test that passed.
func (t *test) run(ctx context.Context, c *tested, txn storage.Transaction, cached cache.InterQueryValueCache, bounds *limits.Bounds) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("failed: panic: %v", r)
		}
	}()
	if name, _ := t.path[len(t.path)-1].Value.(ast.String); strings.HasPrefix(string(name), tester.SkipTestPrefix) {
		return fmt.Errorf("is switched off: a tree with such a test is rejected; remove todo_ from its name, or the test")
	}
	cases := triedCases{}
	bounds.Builtins[triedCase] = &topdown.Builtin{Decl: &ast.Builtin{Name: triedCase, Decl: ast.InternalTestCase.Decl}, Func: cases.tried}
	answer := ast.VarTerm("answer")
	results, err := topdown.NewQuery(ast.NewBody(ast.Equality.Expr(ast.NewTerm(t.path), answer))).
		WithCompiler(c.Compiler).WithStore(c.store).WithTransaction(txn).
		WithCancel(bounds).WithBuiltins(bounds.Builtins).WithStrictBuiltinErrors(true).
		WithInterQueryBuiltinValueCache(cached).
		Run(ctx)
	switch {
	case topdown.IsCancel(err) && bounds.Exceeded() != nil:
		return fmt.Errorf("failed: %w", bounds.Exceeded())
	case err != nil:
		return fmt.Errorf("failed: %w", err)
	case len(results) == 0:
		return fmt.Errorf("failed")
	}
	if limits.Larger(results[0]["answer"].Value, limits.OfQuestion) {
		return fmt.Errorf("failed: its value is too large")
	}
	value, err := ast.JSON(results[0]["answer"].Value)
	if err != nil {
		return fmt.Errorf("failed: %w", err)
	}
	if !t.table {
		if value != true {
			return fmt.Errorf("failed")
		}
		return nil
	}
	if failed := cases.failed(value); len(failed) > 0 {
		return fmt.Errorf("failed: %s", strings.Join(failed, ", "))
	}
	return nil
}

// triedCases records the cases of a table that were evaluated. The value of the table alone does not show a case that
// failed: it has no member for it.
type triedCases struct {
	keys []*ast.Array
}

// tried is the built-in triedCase. It records the keys of a case.
func (c *triedCases) tried(_ topdown.BuiltinContext, operands []*ast.Term, iter func(*ast.Term) error) error {
	if keys, ok := operands[0].Value.(*ast.Array); ok {
		c.keys = append(c.keys, keys)
	}
	return iter(ast.InternedTerm(true))
}

// failed returns the names of the cases that have a value other than true, or no value, in the table.
func (c *triedCases) failed(value any) []string {
	names := untrue(value, "")
	for _, keys := range c.keys {
		node, path := value, make([]string, keys.Len())
		for i := range path {
			path[i] = caseName(keys.Elem(i))
			cases, _ := node.(map[string]any)
			node = cases[path[i]]
		}
		if node == nil {
			names = append(names, strings.Join(path, "/"))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func untrue(value any, name string) (names []string) {
	cases, ok := value.(map[string]any)
	if !ok && value != true {
		return []string{name}
	}
	for key, v := range cases {
		names = append(names, untrue(v, strings.TrimPrefix(name+"/"+key, "/"))...)
	}
	return names
}

func caseName(key *ast.Term) string {
	if s, ok := key.Value.(ast.String); ok {
		return string(s)
	}
	return key.String()
}
