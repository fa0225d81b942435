package question

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Obstacles explains why no verdict of an entry point is cached. It returns a line with the place of each reachable rule
// that prevents it, and nothing for an entry point with keys.
func Obstacles(c *ast.Compiler, rule string) []string {
	return obstacles(c, rule, "input.now", readsTime)
}

// AppObstacles is Obstacles for the rule of an app.
func AppObstacles(c *ast.Compiler, rule string) []string {
	return obstacles(c, rule, "input.facts.now", readsAppTime)
}

// obstacles returns the places of the rules that prevent reuse of verdicts, with what each of them reads.
func obstacles(c *ast.Compiler, entry, now string, timed func(path string) bool) (lines []string) {
	for _, rule := range branchesFor(c, entry, anyKind) {
		why := notPure(rule)
		if why == "" {
			paths, _ := Reads([]*ast.Rule{rule})
			switch i := slices.IndexFunc(paths, timed); {
			case i < 0:
				continue
			case "input."+paths[i] == now:
				why = "reads " + now
			default:
				why = "takes the whole of " + strings.TrimSuffix("input."+paths[i], ".") + ", and the time is in it"
			}
		}
		lines = append(lines, rule.Location.File+":"+strconv.Itoa(rule.Location.Row)+": "+why)
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// ByText names the texts in the key of a rule's verdicts: a line with its place for each rule and text.
func ByText(c *ast.Compiler, rule string) (lines []string) {
	for _, r := range branchesFor(c, rule, anyKind) {
		paths, _ := Reads([]*ast.Rule{r})
		for _, row := range RowsAt(paths) {
			if row.Kind == Text {
				lines = append(lines, r.Location.File+":"+strconv.Itoa(r.Location.Row)+": reads input."+row.Path)
			}
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// notPure explains why a rule can have two values for the same input. It returns "" for a pure rule.
func notPure(rule *ast.Rule) (why string) {
	note := func(text string) {
		if why == "" {
			why = text
		}
	}
	visitor := ast.NewGenericVisitor(func(x any) bool {
		switch x := x.(type) {
		case *ast.Expr:
			if len(x.With) > 0 {
				note("has a with")
			}
			if x.IsCall() && changeable(x.Operator()) {
				note(fmt.Sprintf("calls %s, which answers differently at different times", x.Operator()))
			}
		case ast.Call:
			if operator, isRef := x[0].Value.(ast.Ref); isRef && changeable(operator) {
				note(fmt.Sprintf("calls %s, which answers differently at different times", operator))
			}
		}
		return false
	})
	visitor.Walk(rule)
	return why
}
