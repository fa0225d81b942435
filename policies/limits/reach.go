package limits

import (
	"github.com/open-policy-agent/opa/v1/ast"
)

// Bounds of references. OPA keeps an edge for each reference from one rule to another, visits all reachable rules from
// each rule, and recurses along references when it evaluates.
const (
	maxEdges   = 500_000
	maxReached = 20_000_000
	maxChain   = 500
)

// limitErr is the code of the errors of CheckReach and CheckWritten.
const limitErr = "limit_error"

// CheckReach is a stage of OPA's compiler, before it builds the graph of rules. It rejects too many rules, too many
// references, and too long chains of them.
func CheckReach(c *ast.Compiler) *ast.Error {
	r := reach{numbers: map[*ast.Rule]int32{}, byNode: map[*ast.TreeNode][]int32{}}
	if r.number(c.RuleTree); len(r.rules) > maxRules {
		return ast.NewError(limitErr, r.rules[maxRules].Location, "the tree has more than %d rules: put what is data into a data.json", maxRules)
	}
	if err := r.link(c); err != nil {
		return err
	}
	if err := r.chains(); err != nil {
		return err
	}
	return r.widths()
}

// reach has the rules of a tree by number, each branch of an else with its own, and the references between them.
type reach struct {
	rules   []*ast.Rule
	numbers map[*ast.Rule]int32
	byNode  map[*ast.TreeNode][]int32
	refers  [][]int32
	// depths has the length of the longest chain of references from each rule, 0 if not yet computed.
	depths []int
}

// number numbers the rules at a node and below it.
func (r *reach) number(node *ast.TreeNode) {
	start := len(r.rules)
	for _, rule := range node.Values {
		for branch := rule; branch != nil; branch = branch.Else {
			r.numbers[branch] = int32(len(r.rules)) //nolint:gosec // bounded by the text of the tree
			r.rules = append(r.rules, branch)
		}
	}
	for _, key := range node.Sorted {
		if child := node.Child(key); child != nil {
			r.number(child)
		}
	}
	r.byNode[node] = nil
	for n := start; n < len(r.rules); n++ {
		r.byNode[node] = append(r.byNode[node], int32(n)) //nolint:gosec // bounded by the text of the tree
	}
}

// link finds the rules to which each rule refers.
func (r *reach) link(c *ast.Compiler) (err *ast.Error) {
	edges := 0
	r.refers = make([][]int32, len(r.rules))
	for n, rule := range r.rules {
		seen := map[*ast.TreeNode]bool{}
		see := func(ref ast.Ref) bool {
			if node := nodeOf(c.RuleTree, ref); node != nil && !seen[node] && err == nil {
				seen[node] = true
				r.refers[n] = append(r.refers[n], r.byNode[node]...)
				if edges += len(r.byNode[node]); edges > maxEdges {
					err = ast.NewError(limitErr, rule.Location, "the rules refer to each other more than %d times: "+
						"refer to a rule by its name, and put what is data into a data.json", maxEdges)
				}
			}
			return err != nil
		}
		ast.WalkRefs(rule.Head, see)
		ast.WalkRefs(rule.Body, see)
		if err != nil {
			return err
		}
	}
	return nil
}

// nodeOf returns the node above all rules that a reference can select, nil if it selects no rule.
func nodeOf(root *ast.TreeNode, ref ast.Ref) *ast.TreeNode {
	if !ref[0].Equal(ast.DefaultRootDocument) {
		return nil
	}
	node := root.Child(ref[0].Value)
	for _, part := range ref[1:] {
		if node == nil || len(node.Values) > 0 || !ast.IsConstant(part.Value) {
			break
		}
		node = node.Child(part.Value)
	}
	return node
}

// chains rejects the first rule with too long a chain of references.
func (r *reach) chains() *ast.Error {
	r.depths = make([]int, len(r.rules))
	for n, rule := range r.rules {
		if r.depth(int32(n)) == maxChain+1 {
			return ast.NewError(limitErr, rule.Location, "the rule depends on a chain of more than %d rules: take it apart", maxChain)
		}
	}
	return nil
}

// depth returns the number of rules in the longest chain from a rule. It skips cycles: OPA rejects them.
func (r *reach) depth(n int32) int {
	if r.depths[n] == 0 {
		r.depths[n] = 1
		most := 0
		for _, next := range r.refers[n] {
			most = max(most, r.depth(next))
		}
		r.depths[n] = 1 + most
	}
	return r.depths[n]
}

// widths visits all reachable rules from each rule, as OPA does, and rejects a tree with too many steps.
func (r *reach) widths() *ast.Error {
	steps, seen := 0, make([]int, len(r.rules))
	for n, rule := range r.rules {
		for todo := []int32{int32(n)}; len(todo) > 0; {
			next := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if seen[next] == n+1 {
				continue
			}
			seen[next] = n + 1
			todo = append(todo, r.refers[next]...)
			if steps += 1 + len(r.refers[next]); steps > maxReached {
				return ast.NewError(limitErr, rule.Location, "the rules depend on each other in too many ways to be compiled in time: "+
					"take the tree apart, or put what is data into a data.json")
			}
		}
	}
	return nil
}
