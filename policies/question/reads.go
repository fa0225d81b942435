package question

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// clocked returns built-ins that read the machine's clock, although OPA marks them as deterministic: they check a
// certificate by the current time unless they are given CurrentTime.
func clocked() []string {
	return []string{"crypto.x509.parse_and_verify_certificates", "crypto.x509.parse_and_verify_certificates_with_options"}
}

// Reachable returns the branches of rules that some rules can reach in the compiler's graph of dependencies, and their own.
// It goes no further from a branch that ends; nil ends none.
func Reachable(c *ast.Compiler, rules []*ast.Rule, ends func(branch *ast.Rule) bool) (branches []*ast.Rule) {
	var next []*ast.Rule
	for _, rule := range rules {
		for r := rule; r != nil; r = r.Else {
			next = append(next, r)
		}
	}
	seen := map[*ast.Rule]bool{}
	for len(next) > 0 {
		branch := next[len(next)-1]
		next = next[:len(next)-1]
		if seen[branch] {
			continue
		}
		seen[branch] = true
		branches = append(branches, branch)
		if ends != nil && ends(branch) {
			continue
		}
		for dependency := range c.Graph.Dependencies(branch) { // with each else branch as a rule of its own
			next = append(next, dependency.(*ast.Rule))
		}
	}
	return branches
}

// Reads returns the dotted paths of the input that the rules read, without their dependencies; "" is all of it. It isn't
// ok for a rule beside the pure functions of the input, or with a `with`.
func Reads(rules []*ast.Rule) (paths []string, ok bool) {
	var visitor *ast.GenericVisitor
	visitor = ast.NewGenericVisitor(func(x any) bool {
		switch x := x.(type) {
		case ast.Ref:
			if isInput(x[0].Value) {
				paths = append(paths, dotted(x))
			}
			for _, t := range x[1:] {
				visitor.Walk(t)
			}
			return true
		case ast.Var:
			if isInput(x) {
				paths = append(paths, "")
			}
		}
		return false
	})
	for _, rule := range rules {
		visitor.Walk(rule)
		for r := rule; r != nil; r = r.Else { // the walk leaves out a name's first part
			visitor.Walk(r.Head.Reference)
		}
	}
	return paths, !slices.ContainsFunc(rules, func(rule *ast.Rule) bool { return notPure(rule) != "" })
}

func isInput(v ast.Value) bool { return v.Compare(ast.InputRootDocument.Value) == 0 }

// dotted returns the path below input, with dots. It ends above the first part that is not a string or has a dot: the
// rule then reads the value above.
func dotted(ref ast.Ref) string {
	var parts []string
	for _, t := range ref[1:] {
		part, isString := t.Value.(ast.String)
		if !isString || strings.Contains(string(part), ".") {
			break
		}
		parts = append(parts, string(part))
	}
	return strings.Join(parts, ".")
}

// changeable says whether a built-in can answer the same question in two ways.
func changeable(operator ast.Ref) bool {
	name := operator.String()
	builtin, ok := ast.BuiltinMap[name]
	return ok && (builtin.Nondeterministic || slices.Contains(clocked(), name))
}

// ReadBy returns the dotted paths of the input that a rule and its dependencies read. It returns "", the whole input, for
// a rule that is not a pure function of the input. The rules must call built-ins by OPA's own names.
func ReadBy(c *ast.Compiler, rule string) []string {
	paths, ok := Reads(branchesFor(c, rule, anyKind))
	if !ok {
		return []string{""}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}
