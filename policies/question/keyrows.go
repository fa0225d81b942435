package question

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// KeyRows returns the rows that the rules of an entry point can read, by the principal's kind. Only these distinguish its
// questions. The kind is the first of them wherever they differ. KeyRows is nil where no verdict may be reused. The rule is
// one of the compiled tree; its rules must call built-ins by OPA's own names.
func KeyRows(c *ast.Compiler, rule string) map[string][]*Row {
	paths, ok := Reads(branchesFor(c, rule, anyKind))
	if !ok || slices.ContainsFunc(paths, readsTime) {
		return nil
	}
	rows := map[string][]*Row{}
	for _, kind := range principalKinds() {
		paths, _ := Reads(branchesFor(c, rule, kind))
		rows[kind] = RowsAt(paths)
	}
	return rows
}

// readsTime reports whether a path includes the time. The whole input does.
func readsTime(path string) bool { return path == "" || PartOf(path, "now") }

// PartOf reports whether the value at a path is the one at the other, or a part of it; "" is the whole input.
func PartOf(path, other string) bool {
	return other == "" || path == other || strings.HasPrefix(path, other+".")
}
