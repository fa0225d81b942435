package compare

import (
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/limits"
)

// Of a grant's permissions, sets are asked about that hold none, one, or what a system role holds. That is all where the
// rules look for a permission that is so or so once, and ask of a count no more than whether it is none: the answer to a
// larger set is the one to some of its permissions.

// beyond returns the places of rules that can tell more sets of permissions apart.
func (c *comparison) permissionSetGaps() (gaps []Gap) {
	for _, r := range c.rules {
		if r.searches(engine.EntryGrantable) <= 1 {
			continue
		}
		for _, g := range r.groups {
			if g.reads[grantPermissions] && g.location != nil {
				gaps = append(gaps, gap(g.location, "grant.permissions", "sets of several permissions that are not a system role's"))
			}
		}
	}
	return gaps
}

// searches returns how many times the rules of an entry point go through the permissions of a grant; any other use of them
// but to count them is taken for many.
func (r *rules) searches(entry string) (n int) {
	const many = 100
	seen := map[*ast.Rule]bool{}
	var visit func(g *group)
	visit = func(g *group) {
		for _, rule := range g.definitions {
			if seen[rule] {
				continue
			}
			seen[rule] = true
			n -= countOnlyUses(rule) * many
			ast.WalkRefs(rule, func(ref ast.Ref) bool {
				switch path := pathOf(ref); {
				case path == grantPermissions:
					n += many
				case len(ref) == 4 && pathOf(ref[:3]) == grantPermissions:
					n++
				case path == paths && len(ref) < 3 && ref[0].Value.Compare(ast.InputRootDocument.Value) == 0:
					if len(ref) == 1 || !ast.IsConstant(ref[1].Value) || ref[1].Value.Compare(ast.String("grant")) == 0 {
						n += many
					}
				}
				return false
			})
		}
		for _, dep := range g.deps {
			visit(dep)
		}
	}
	visit(r.groups[entry])
	return n
}

// counts returns how many times a rule takes the permissions of a grant only to count them. The compiler gives what is
// counted a name.
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
				if pathOf(operand) == grantPermissions {
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
			if isVar && isRef && pathOf(ref) == grantPermissions && counted[v] > 0 && used[v] == counted[v]+1 {
				n++
			}
		}
		return false
	})
	return n
}
