package compare

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/engine"
)

// Gap is a use of open values in a rule, or a difference of the trees, that the comparison does not follow.
type Gap struct {
	// At is the place, file:line, and Rule the name of the rule there. Reads is the part of the input, and LeftOut
	// describes the questions that were not asked.
	At      string `json:"at"`
	Rule    string `json:"rule"`
	Reads   string `json:"reads"`
	LeftOut string `json:"left_out"`
}

// Place names the rule of a gap independently of its line, as authz/own.rego:deny.
func (g *Gap) Place() string {
	return g.At[:strings.LastIndexByte(g.At, ':')] + ":" + g.Rule
}

// gap returns the gap at a location, without the name of the rule.
func gap(location *ast.Location, reads, leftOut string) Gap {
	return Gap{At: location.File + ":" + strconv.Itoa(location.Row), Reads: strings.TrimPrefix(reads, "input."), LeftOut: leftOut}
}

// gapsBesideTables returns the gaps of rules beside the entry points. There is one for each changed place in the rules of
// an app or of the decision log: questions to an app have any form, and an event of the log has more than a question.
// There is one for each rule over the arguments of tools that the new tree lacks. Such rules only deny, so the new tree
// may let in what the rule denied.
func gapsBesideTables(ctx context.Context, old, next *engine.Set) (gaps []Gap, err error) {
	compared := map[string]Gap{"data.system.log": {
		Reads: "events of the decision log", LeftOut: "which events are dropped, and what is masked in the others; the rules differ between the trees",
	}}
	for _, app := range slices.Concat(old.Apps(), next.Apps()) {
		compared[engine.AppRules(app.Name)] = Gap{
			Reads: "what is asked of the app " + app.Name, LeftOut: "all questions to the app; its rules differ between the trees",
		}
	}
	for rules, g := range compared {
		changed, err := changedForms(ctx, [2]*engine.Set{old, next}, rules)
		if err != nil {
			return nil, err
		}
		for _, forms := range changed {
			if len(forms) > 0 {
				gaps = append(gaps, gap(forms[0].location, g.Reads, g.LeftOut))
			}
		}
	}
	changed, err := ArgumentRules(ctx, old, next)
	for _, rule := range changed {
		if rule.Old != "" {
			gaps = append(gaps, gap(rule.location, "the arguments of tools of "+rule.Server, "calls denied by the rule, which the new tree lacks in this form"))
		}
	}
	return gaps, err
}

// partGaps returns a gap for each rule below a root that has no rule of its own to evaluate.
func (c *comparison) partGaps(root root) (gaps []Gap) {
	ref := ast.MustParseRef(root.rule)
	for _, r := range c.rules {
		if len(r.compiler.GetRulesExact(ref)) > 0 {
			continue
		}
		for _, rule := range r.compiler.GetRulesWithPrefix(ref) {
			gaps = append(gaps, gap(rule.Location, root.rule, "what an explanation tells of it"))
		}
	}
	return gaps
}

// withGaps returns a gap for each `with` among the rules that a root depends on. The comparison does not follow the
// replacement of an input, and cannot merge any value such a rule reads.
func (c *comparison) withGaps(name string) (gaps []Gap) {
	for _, r := range c.rules {
		for _, g := range withDependencies(r.groups[name]) {
			for _, rule := range g.definitions {
				ast.WalkExprs(rule, func(e *ast.Expr) bool {
					if len(e.With) > 0 {
						gaps = append(gaps, gap(e.Location, "what a `with` replaces", "all questions to "+strings.TrimPrefix(name, "data.authz.")))
					}
					return false
				})
			}
		}
	}
	return gaps
}
