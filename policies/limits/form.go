package limits

import (
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Bounds of the text of rules, far above what people write. OPA's compiler and evaluation recurse as deep as the text,
// and a stack overflow ends the process. Some of their times grow with the square of a length.
const (
	// maxRules bounds the rules of a tree with its tests, each branch of an else counted.
	maxRules = 10_000
	// maxNesting bounds how deep terms and bodies are nested.
	maxNesting = 200
	// maxElse bounds the branches of one rule, maxBody the expressions of one body.
	maxElse = 100
	maxBody = 1000
	// maxParts bounds the parts of a reference, the operands of a call and the `with` of an expression.
	maxParts = 100
	// maxImports bounds the imports of a module.
	maxImports = 1000
)

// Report is called with each problem and its place.
type Report func(loc *ast.Location, problem string)

// CheckForm reports the parts of a module that are too long or too deep for OPA's compiler. Call it before the
// compiler.
func CheckForm(m *ast.Module, report Report) {
	top := form{loc: m.Package.Location, report: report}
	if top.parts(len(m.Package.Path), "parts of a name"); len(m.Imports) > maxImports {
		top.problem("the module has more than %d imports: take it apart", maxImports)
	}
	for _, imported := range m.Imports {
		if ref, ok := imported.Path.Value.(ast.Ref); ok {
			top.loc = imported.Location
			top.parts(len(ref), "parts of a name")
		}
	}
	for _, rule := range m.Rules {
		branches := 0
		for branch := rule; branch != nil; branch = branch.Else {
			if branches++; branches > maxElse {
				report(rule.Location, fmt.Sprintf("the rule has more than %d branches of else: write a table, and look up in it", maxElse))
				break
			}
			f := form{loc: branch.Location, report: report}
			f.walk(branch)
			if f.refused {
				break
			}
		}
	}
}

// form walks one branch of a rule.
type form struct {
	loc     *ast.Location
	report  Report
	depth   int
	refused bool
}

// problem reports the first problem only: the others usually repeat it.
func (f *form) problem(format string, args ...any) {
	if !f.refused {
		f.refused = true
		f.report(f.loc, fmt.Sprintf(format, args...))
	}
}

// walk visits the head and the body. It skips the nodes below a problem.
func (f *form) walk(rule *ast.Rule) {
	vis := &ast.BeforeAfterVisitor{}
	vis = ast.NewBeforeAfterVisitor(func(x any) bool { return f.enter(vis, x) }, f.leave)
	f.parts(len(rule.Head.Args), "operands")
	vis.Walk(rule.Head.Ref())
	vis.Walk(rule.Head.Args)
	for _, term := range []*ast.Term{rule.Head.Key, rule.Head.Value} {
		if term != nil {
			vis.Walk(term)
		}
	}
	vis.Walk(rule.Body)
}

// enter checks a node. It returns true to skip the nodes below it.
func (f *form) enter(vis *ast.BeforeAfterVisitor, x any) (stop bool) {
	switch x := x.(type) {
	case ast.Body:
		f.deeper()
		if len(x) > maxBody {
			f.problem("a body has more than %d expressions: take it apart into rules", maxBody)
		}
	case *ast.Expr:
		if x.Location != nil {
			f.loc = x.Location
		}
		f.parts(len(x.With), "`with`")
	case *ast.Term:
		f.deeper()
		if x.Location != nil && x.Location.File != "" {
			f.loc = x.Location
		}
	case ast.Ref:
		f.parts(len(x), "parts of a name")
	case ast.Call:
		f.parts(len(x), "operands")
	case *ast.TemplateString: // the visitor does not visit its parts
		for _, part := range x.Parts {
			if !f.refused {
				vis.Walk(part)
			}
		}
	}
	return f.refused
}

func (f *form) leave(x any) {
	switch x.(type) {
	case ast.Body, *ast.Term:
		f.depth--
	}
}

func (f *form) deeper() {
	if f.depth++; f.depth > maxNesting {
		f.problem("terms or bodies are nested deeper than %d: take them apart into rules", maxNesting)
	}
}

func (f *form) parts(n int, noun string) {
	if n > maxParts {
		f.problem("there are more than %d %s: write fewer of them", maxParts, noun)
	}
}
