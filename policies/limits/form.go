package limits

import (
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Bounds of what is written, all of them far from what people write. OPA's compiler and evaluation go down as deep as the
// text, on a stack whose overflow ends the process, and take the square of some lengths as time.
const (
	// MaxText bounds the text of all modules of a tree, in bytes.
	MaxText = 4 << 20
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

// Tell is told of a place, and of what is wrong there.
type Tell func(loc *ast.Location, problem string)

// CheckForm tells what in a module is too long or too deep for OPA. It has to be asked before the module is compiled.
func CheckForm(m *ast.Module, tell Tell) {
	top := form{loc: m.Package.Location, tell: tell}
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
				tell(rule.Location, fmt.Sprintf("the rule has more than %d branches of else: write a table, and look up in it", maxElse))
				break
			}
			f := form{loc: branch.Location, tell: tell}
			f.walk(branch)
			if f.refused {
				break
			}
		}
	}
}

// form is the walk through one branch of a rule.
type form struct {
	loc     *ast.Location
	tell    Tell
	depth   int
	refused bool
}

// problem tells the first problem alone: the others are the same again.
func (f *form) problem(format string, args ...any) {
	if !f.refused {
		f.refused = true
		f.tell(f.loc, fmt.Sprintf(format, args...))
	}
}

// walk goes through the head and the body. What is below a problem is left out.
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

// enter comes to a node, and says whether what is below it is left out.
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
	case *ast.TemplateString: // which the visitor leaves out
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
