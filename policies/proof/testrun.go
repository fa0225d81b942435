package proof

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/cover"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/topdown/lineage"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/limits"
)

// oneTestWithin bounds one test of TestRun.Tests.
const oneTestWithin = 10 * time.Second

// TestRun is a run of a tree's tests for its author (`policy test`).
type TestRun struct {
	// Run is a regular expression over names like data.authz_test.test_name; "" runs all tests.
	Run string
	// Verbose prints the tests that pass, too.
	Verbose bool
	// Coverage prints the lines that no test reaches. The run fails below Threshold, in percent.
	Coverage  bool
	Threshold float64
}

// Tests runs the tests with OPA's own runner, and prints what `opa test` prints. For each failed test it prints the
// expression that did not hold, with the values of its variables. passed is false if a test did not pass, or if the
// coverage is below Threshold. The error is Problems if the tree does not compile.
func (r TestRun) Tests(ctx context.Context, src *policies.Source, out io.Writer) (passed bool, err error) {
	if _, err := regexp.Compile(r.Run); err != nil {
		return false, fmt.Errorf("--run: must be a regular expression: %w", err)
	}
	var covered *cover.Cover
	if r.Coverage || r.Threshold > 0 {
		covered = cover.New()
	}
	results, modules, err := r.run(ctx, src, covered, false)
	if err != nil {
		return false, err
	}
	if failed := failedTests(results); len(failed) > 0 {
		// The values come from traces. Traces slow the evaluation down, so only the tests that failed run with them.
		again, _, err := TestRun{Run: "^(" + strings.Join(failed, "|") + ")$"}.run(ctx, src, nil, true)
		if err != nil {
			return false, err
		}
		results = slices.Concat(slices.DeleteFunc(results, func(t *tester.Result) bool { return t.Fail }), again)
	}
	if len(results) == 0 {
		return false, fmt.Errorf("there are no such tests: a test is a rule whose name begins with test_, in a package that ends in _test")
	}
	return r.report(results, covered, modules, out)
}

// run compiles the tree anew and runs its tests. It returns the results in the order of the tests, and the modules.
func (r TestRun) run(ctx context.Context, src *policies.Source, covered *cover.Cover, traced bool) ([]*tester.Result, map[string]*ast.Module, error) {
	var p Problems
	checkSchemas(src, &p)
	data, docs := readData(src, &p)
	tree := parseTree(src, docs, &p)
	if err := p.err(); err != nil {
		return nil, nil, err
	}
	modules := tree.modules
	maps.Copy(modules, tree.tests)
	var results []*tester.Result
	store := newStore(withSchemas(data, src))
	err := storage.Txn(ctx, store, storage.TransactionParams{}, func(txn storage.Transaction) error {
		compiler := newCompiler(ctx, store, txn, tree.schemas, limits.Capabilities(forTests()...)).
			WithEnablePrintStatements(true).WithRewriteTestRules(traced)
		runner := tester.NewRunner().SetCompiler(compiler).SetStore(store).SetModules(modules).
			RaiseBuiltinErrors(true).CapturePrintOutput(true).StackTraces(true).EnableTracing(traced).
			SetTimeout(oneTestWithin).Filter(r.Run).SetParallel(1)
		if covered != nil {
			runner = runner.SetCoverageQueryTracer(covered).SetCoverageRuns([]cover.Kind{cover.KindIndexExcluded, cover.KindEarlyExit})
		}
		ended, err := runner.RunTests(ctx, txn)
		if err != nil {
			return err
		}
		for result := range ended {
			result.Trace = lineage.Filter(result.Trace, func(e *topdown.Event) bool { return e.Op == topdown.NoteOp || e.Op == topdown.FailOp })
			results = append(results, result)
		}
		return ctx.Err()
	})
	if err != nil {
		p.compiler(err)
		return nil, nil, p.err()
	}
	slices.SortFunc(results, func(a, b *tester.Result) int { return a.Location.Compare(b.Location) })
	return results, modules, nil
}

// failedTests returns a pattern for the name of each failed test.
func failedTests(results []*tester.Result) (patterns []string) {
	for _, t := range results {
		if t.Fail {
			patterns = append(patterns, regexp.QuoteMeta(t.Package+"."+t.Name))
		}
	}
	return patterns
}

// report prints the results and the coverage. It returns passed as Tests does.
func (r TestRun) report(results []*tester.Result, covered *cover.Cover, modules map[string]*ast.Module, out io.Writer) (passed bool, err error) {
	passed = !slices.ContainsFunc(results, func(t *tester.Result) bool { return !t.Pass() })
	reported := make(chan *tester.Result, len(results))
	for _, t := range results {
		reported <- t
	}
	close(reported)
	var text bytes.Buffer // OPA's reporter ignores errors of its output
	if err := (tester.PrettyReporter{Output: &text, Verbose: r.Verbose, FailureLine: true, LocalVars: true}).Report(reported); err != nil {
		return false, err
	}
	if _, err := out.Write(text.Bytes()); err != nil || covered == nil {
		return passed && err == nil, err
	}
	maps.DeleteFunc(modules, func(name string, _ *ast.Module) bool { return strings.HasPrefix(name, policies.BaseMark) }) // the base of an overlay has its own tests
	report := covered.Report(modules)
	for _, file := range slices.Sorted(maps.Keys(report.Files)) {
		var missed []string
		for _, lines := range report.Files[file].NotCovered {
			missed = append(missed, linesOf(lines))
		}
		if len(missed) > 0 {
			if _, err := fmt.Fprintf(out, "%s: not covered: %s\n", file, strings.Join(missed, ", ")); err != nil {
				return false, err
			}
		}
	}
	if _, err := fmt.Fprintf(out, "COVERAGE: %.1f %%\n", report.Coverage); err != nil {
		return false, err
	}
	return passed && report.Coverage >= r.Threshold, nil
}

// linesOf returns "3" or "3-5".
func linesOf(r cover.Range) string {
	if r.Start.Row == r.End.Row {
		return fmt.Sprint(r.Start.Row)
	}
	return fmt.Sprintf("%d-%d", r.Start.Row, r.End.Row)
}
