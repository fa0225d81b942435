package compare

import (
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/limits"
)

// The comparison grants the empty set, single permissions, and the sets of system roles. They suffice if the rules
// search a grant's permissions at most once and only test their count for zero: the answer to a larger set is then the
// answer to one of its permissions.

// permissionSetGaps returns a gap for each rule that could distinguish further sets of permissions.
func (c *comparison) permissionSetGaps() (gaps []Gap) {
	for _, r := range c.rules {
		if r.searches(engine.EntryGrantable) <= 1 {
			continue
		}
		for _, g := range r.groups {
			if g.readsRow("grant.permissions") && g.location != nil {
				gaps = append(gaps, gap(g.location, "grant.permissions", "sets of several permissions that are not a system role's"))
			}
		}
	}
	return gaps
}

// searches returns how often the rules of an entry point search the permissions of a grant. Any other use, except
// counting them, is worth many searches.
func (r *rules) searches(entry string) (n int) {
	const many = 100
	seen := map[*ast.Rule]bool{}
	for _, g := range withDependencies(r.groups[entry]) {
		for _, rule := range g.definitions {
			if seen[rule] {
				continue
			}
			seen[rule] = true
			n -= countOnlyUses(rule) * many
			ast.WalkRefs(rule, func(ref ast.Ref) bool {
				switch row := rowOf(ref); {
				case isPermissions(ref):
					n += many
				case len(ref) == 4 && isPermissions(ref[:3]):
					n++
				case row < 0 && len(ref) < 3 && ref[0].Value.Compare(ast.InputRootDocument.Value) == 0:
					if len(ref) == 1 || !ast.IsConstant(ref[1].Value) || ref[1].Value.Compare(ast.String("grant")) == 0 {
						n += many
					}
				}
				return false
			})
		}
	}
	return n
}

// isPermissions says whether a reference is that to the permissions of a grant.
func isPermissions(ref ast.Ref) bool { return ref.String() == "input.grant.permissions" }

// countOnlyUses returns how many references to a grant's permissions serve only to count them. The compiler assigns the
// counted set to a variable.
func countOnlyUses(rule *ast.Rule) (n int) {
	counted, used := map[ast.Var]int{}, map[ast.Var]int{}
	ast.WalkVars(rule, func(v ast.Var) bool {
		used[v]++
		return false
	})
	ast.WalkExprs(rule, func(e *ast.Expr) bool {
		if e.IsCall() && limits.Name(e.Operator()) == "count" {
			switch operand := e.Operand(0).Value.(type) {
			case ast.Var:
				counted[operand]++
			case ast.Ref:
				if isPermissions(operand) {
					n++
				}
			}
		}
		return false
	})
	ast.WalkExprs(rule, func(e *ast.Expr) bool {
		if e.IsEquality() {
			v, isVar := e.Operand(0).Value.(ast.Var)
			ref, isRef := e.Operand(1).Value.(ast.Ref)
			if isVar && isRef && isPermissions(ref) && counted[v] > 0 && used[v] == counted[v]+1 {
				n++
			}
		}
		return false
	})
	return n
}
