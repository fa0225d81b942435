package question

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/resources"
)

// Plan lists the rows that the rules of one entry point can read. Only these distinguish its questions. The list depends
// on the principal's kind. The key holds the kind wherever the lists differ.
type Plan struct {
	// Entry is the number of the entry point, a part of the key.
	Entry int
	// ByKind are the rows by the principal's kind.
	ByKind map[string][]*Row
}

// NewPlan returns the plan of an entry point, a rule of the compiled tree. It is nil where no verdict may be reused.
// The rules must call built-ins by OPA's own names.
func NewPlan(c *ast.Compiler, rule string, entry int) *Plan {
	paths, ok := inputsOf(reachable(c, rule))
	if !ok || slices.ContainsFunc(paths, readsTime) {
		return nil
	}
	plan := &Plan{Entry: entry, ByKind: map[string][]*Row{}}
	for _, kind := range principalKinds() {
		paths, _ := inputsOf(branchesFor(c, rule, kind))
		plan.ByKind[kind] = RowsAt(paths)
	}
	return plan
}

// Reads says whether the verdict of a question by a principal of the kind may depend on the value at one of the paths.
func (p *Plan) Reads(kind string, paths ...string) bool {
	if !slices.Contains(principalKinds(), kind) {
		kind = resources.PrincipalNone
	}
	return p == nil || slices.ContainsFunc(p.ByKind[kind], func(row *Row) bool { return slices.Contains(paths, row.Path) })
}

// Key appends what names the question's verdict. No two questions with unlike verdicts share a key.
func (p *Plan) Key(b []byte, q *resources.Question) []byte {
	return AppendKey(appendNumber(b, int64(p.Entry)), q, p.ByKind[callerKind(q)])
}

// readsTime reports whether a path includes the time. The whole input does.
func readsTime(path string) bool { return path == "" || PartOf(path, "now") }

// PartOf reports whether the value at a path is the one at the other, or a part of it; "" is the whole input.
func PartOf(path, other string) bool {
	return other == "" || path == other || strings.HasPrefix(path, other+".")
}
