package question

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// anyKind stands for all kinds of principals.
const anyKind = ""

// branchesFor returns the branches of the rules that an entry point can reach for a principal of the kind. Of a branch
// that first compares the kind with another one it keeps this comparison alone: the branch is undefined, and never reads
// the rest. So values that rules read of users alone are not in the keys of services.
func branchesFor(c *ast.Compiler, entry, kind string) []*ast.Rule {
	ends := func(branch *ast.Rule) bool { return kind != anyKind && asksForAnother(branch, kind) }
	branches := Reachable(c, c.GetRules(ast.MustParseRef(entry)), ends)
	for i, rule := range branches {
		branch := *rule
		if branch.Else = nil; ends(rule) {
			branch.Body = rule.Body[:1]
		}
		branches[i] = &branch
	}
	return branches
}

// asksForAnother says whether a branch begins with input.principal.kind == "…", for another kind. Arguments
// would be looked at before.
func asksForAnother(rule *ast.Rule, kind string) bool {
	if len(rule.Head.Args) > 0 || len(rule.Body) == 0 {
		return false
	}
	first := rule.Body[0]
	if first.Negated || len(first.With) > 0 || !first.IsEquality() || len(first.Operands()) != 2 {
		return false
	}
	asked := ast.MustParseRef("input.principal.kind")
	sides := []ast.Value{first.Operand(0).Value, first.Operand(1).Value}
	if !slices.ContainsFunc(sides, func(v ast.Value) bool { ref, ok := v.(ast.Ref); return ok && ref.Equal(asked) }) {
		return false
	}
	return slices.ContainsFunc(sides, func(v ast.Value) bool { s, ok := v.(ast.String); return ok && string(s) != kind })
}
