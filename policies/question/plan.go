package question

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/resources"
)

// Plan says which rows tell the questions to one entry point apart: those that its rules can read. Other rules count
// for other kinds of principals; the kind is a part of the key wherever that makes a difference.
type Plan struct {
	// Entry is the number of the entry point, a part of the key.
	Entry int
	// ByKind are the rows by the principal's kind.
	ByKind map[string]Rows
}

// NewPlan returns the plan of an entry point, a rule of the compiled tree. It is nil where no verdict may be reused.
// The rules must call built-ins by OPA's own names.
func NewPlan(c *ast.Compiler, rule string, entry int) *Plan {
	paths, ok := inputsOf(reachable(c, rule))
	if !ok || slices.ContainsFunc(paths, readsTime) {
		return nil
	}
	plan := &Plan{Entry: entry, ByKind: map[string]Rows{}}
	for _, kind := range principalKinds() {
		paths, _ := inputsOf(branchesFor(c, rule, kind))
		plan.ByKind[kind] = At(paths)
	}
	return plan
}

// Reads says whether the verdict of a question by a principal of the kind may depend on the value at one of the paths.
func (p *Plan) Reads(kind string, paths ...string) bool {
	if !slices.Contains(principalKinds(), kind) {
		kind = resources.PrincipalNone
	}
	return p == nil || slices.ContainsFunc(p.ByKind[kind], func(i int) bool { return slices.Contains(paths, table()[i].Path) })
}

// Key appends what names the question's verdict. No two questions with unlike verdicts share a key.
func (p *Plan) Key(b []byte, in *Input) []byte {
	return in.AppendKey(appendNumber(b, int64(p.Entry)), p.ByKind[in.kind()])
}

// readsTime says whether a path is that of the time, or of the whole input, which has the time in it.
func readsTime(path string) bool { return path == "" || within(path, "now") }

// within says whether the value at a path is the one at the other, or below it; "" is the whole input.
func within(path, other string) bool {
	return other == "" || path == other || strings.HasPrefix(path, other+".")
}
