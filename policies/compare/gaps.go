package compare

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/engine"
)

// Gap is something that a rule does with open values of the question, and that the comparison does not follow.
type Gap struct {
	// At is the place, file:line, and Rule the name of the rule there; Reads the part of the input; LeftOut the questions that
	// were not asked.
	At      string `json:"at"`
	Rule    string `json:"rule"`
	Reads   string `json:"reads"`
	LeftOut string `json:"left_out"`
}

// Place names the rule of a gap wherever it stands in its file, as authz/own.rego:deny.
func (g *Gap) Place() string {
	return g.At[:strings.LastIndexByte(g.At, ':')] + ":" + g.Rule
}

func gap(location *ast.Location, reads, leftOut string) Gap {
	return Gap{At: location.File + ":" + strconv.Itoa(location.Row), Reads: strings.TrimPrefix(reads, "input."), LeftOut: leftOut}
}

// unasked returns the apps that the trees do not have alike, and the parts of the decision log that they do not mask or
// drop alike. Callers of an app send questions of any form, and an event holds more than a question, so no table
// holds either.
func appAndLogGaps(ctx context.Context, old, next *engine.Set) (gaps []Gap, err error) {
	names := map[string]string{}
	for _, set := range []*engine.Set{old, next} {
		for _, app := range set.Apps() {
			names[app.Name] = engine.AppRules(app.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		changed, err := changedRules(ctx, old, next, names[name])
		if err != nil {
			return nil, err
		}
		for _, location := range changed {
			gaps = append(gaps, gap(location, "what is asked of the app "+name, "all questions to the app, which is not the same in both trees"))
		}
	}
	changed, err := changedRules(ctx, old, next, "data.system.log")
	for _, location := range changed {
		gaps = append(gaps, gap(location, "events of the decision log", "what is masked and dropped of them, which is not the same in both trees"))
	}
	return gaps, err
}

// below returns the places of rules that give parts of what is compared, which has no rule of its own to be asked.
func (c *comparison) partGaps(root root) (gaps []Gap) {
	ref := ast.MustParseRef(root.rule)
	for _, r := range c.rules {
		if root.rule == root.entry || len(r.compiler.GetRulesExact(ref)) > 0 {
			continue
		}
		for _, rule := range r.compiler.GetRulesWithPrefix(ref) {
			gaps = append(gaps, gap(rule.Location, root.rule, "what an explanation tells of it"))
		}
	}
	return gaps
}

// replaced returns the places where rules on which a rule rests have a `with`: what it puts in the place of an input is not
// followed, and nothing that such a rule reads can be told apart from anything else.
func (c *comparison) withGaps(name string) (gaps []Gap) {
	for _, r := range c.rules {
		seen := map[*group]bool{}
		var visit func(g *group)
		visit = func(g *group) {
			if seen[g] {
				return
			}
			seen[g] = true
			for _, rule := range g.definitions {
				ast.WalkExprs(rule, func(e *ast.Expr) bool {
					if len(e.With) > 0 {
						gaps = append(gaps, gap(e.Location, "what a `with` replaces", "all questions to "+strings.TrimPrefix(name, "data.authz.")))
					}
					return false
				})
			}
			for _, dep := range g.deps {
				visit(dep)
			}
		}
		visit(r.groups[name])
	}
	return gaps
}

// unlike returns the place of the first rule below a reference that one of the trees lacks, or that rests on other rules or
// data there: one place for each tree that has such a rule. Where the document beside the rules differs, any rule has
// changed.
func changedRules(ctx context.Context, old, next *engine.Set, pkg string) (places []*ast.Location, err error) {
	var forms [2]map[string]*ast.Location
	for i, set := range []*engine.Set{old, next} {
		r, err := openRules(ctx, set)
		if err != nil {
			return nil, err
		}
		defer r.close(ctx)
		document, err := r.documentPrint(ctx, ast.MustParseRef(pkg))
		if err != nil {
			return nil, err
		}
		all, err := r.forms(ctx, pkg)
		if err != nil {
			return nil, err
		}
		forms[i] = map[string]*ast.Location{}
		for name, prints := range all {
			for text, location := range prints {
				forms[i][fingerprint([]string{document, name, text})] = location
			}
		}
	}
	for i := range forms {
		var first *ast.Location
		for form, location := range forms[1-i] {
			if forms[i][form] == nil && (first == nil || location.Compare(first) < 0) {
				first = location
			}
		}
		if first != nil {
			places = append(places, first)
		}
	}
	return places, nil
}
