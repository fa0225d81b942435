package matrix

import (
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// together returns the places where rules of an entry point can tell apart what assignments are held beside each other:
// where several rules read the assignments, or one reads them more than once. Only pairs are asked about.
func (c *comparison) together(entry string) (found []Gap) {
	for _, r := range c.rules {
		var reading []*group
		times, seen := 0, map[*group]bool{}
		var visit func(g *group)
		visit = func(g *group) {
			if seen[g] {
				return
			}
			seen[g] = true
			if n := g.readings(); n > 0 {
				reading, times = append(reading, g), times+n
			}
			for _, dep := range g.deps {
				visit(dep)
			}
		}
		if r.groups[entry] != nil {
			visit(r.groups[entry])
		}
		for _, g := range reading {
			if times > 1 {
				found = append(found, gap(g.at, "subject.here", "three assignments and more, and most that do not count beside others"))
			}
		}
	}
	return found
}

// readings returns how many times the group goes through the assignments, 2 for any more.
func (g *group) readings() int {
	if !g.reads[subjectHere] && !g.reads[subjectAssignments] || g.union {
		return 0
	}
	n := 0
	for _, rule := range g.defined {
		times := 0
		ast.WalkRefs(rule, func(ref ast.Ref) bool {
			if name := ref.String(); strings.HasPrefix(name, "input.subject.here") || strings.HasPrefix(name, "input.subject.assignments") || name == "input.subject" || name == "input" {
				times++
			}
			return false
		})
		ast.WalkExprs(rule, func(e *ast.Expr) bool {
			if _, every := e.Terms.(*ast.Every); every {
				times++
			}
			return false
		})
		n += times
	}
	return min(n, 2)
}
