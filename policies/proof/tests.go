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

// compileTests compiles the tree with its tests as `opa test` does: tests of one name
// are told apart, and each case of a table is noted when it is tried. OPA's runner does
// that on its way; it runs none of them here.
func compileTests(ctx context.Context, c *ast.Compiler, modules map[string]*ast.Module) error {
	results, err := tester.NewRunner().SetCompiler(c).SetModules(modules).Filter(noTest).RunTests(ctx, nil)
	if err != nil {
		return err
	}
	for range results { // none; the runner closes it when it is through
	}
	hear(c)
	return nil
}

// triedCase takes the place of the built-in by which OPA notes the cases of a table: that
// one tells tracers only, and with a tracer every step of every evaluation is put together
// for it, which is a third of the time.
const triedCase = "engine.tried_case"

// hear has each case of a table told to triedCase when it is tried.
func hear(c *ast.Compiler) {
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

// findTests gives what `opa test` takes for a test, by place.
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

// runTests runs the tree's own tests. A built-in's error fails a test, as it would
// fail the decision. They run one after the other, so that a reload leaves the other processors
// to decisions. It returns how many passed.
//
// OPA's runner is not asked: the package's comment says what that would cost.
func runTests(ctx context.Context, c *tested, limit time.Duration, p *Problems) (passed int) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	txn, err := c.store.NewTransaction(ctx)
	if err != nil {
		p.add("policy tests: %v", err)
		return 0
	}
	defer c.store.Abort(ctx, txn)
	cached := cache.NewInterQueryValueCache(ctx, nil) // as of schemas, which tests hold each case against
	bounds := limits.NewBounds(limits.Pace{})
	for _, t := range findTests(c.Compiler) {
		bounds.Start(ctx, 2*limit, limits.OfTest) // ctx ends before, for all of them
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
		p.add("policy tests: there are none; a tree that proves nothing isn't taken")
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
		return fmt.Errorf("is switched off; a tree with such a test isn't taken")
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

// triedCases hears of each case of a table when it is tried: one that doesn't hold is
// not in the table's value.
type triedCases struct {
	keys []*ast.Array
}

// tried notes the keys of a case.
func (c *triedCases) tried(_ topdown.BuiltinContext, operands []*ast.Term, iter func(*ast.Term) error) error {
	if keys, ok := operands[0].Value.(*ast.Array); ok {
		c.keys = append(c.keys, keys)
	}
	return iter(ast.InternedTerm(true))
}

// failed names the tried cases without a true in the table's value, and other values.
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
