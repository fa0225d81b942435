package compare

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/engine"
)

// unasked returns the apps that the trees do not have alike, and the parts of the decision log that they do not mask or
// drop alike. Callers of an app send questions of any form, and an event holds more than a question, so no table
// holds either.
func unasked(ctx context.Context, old, fresh *engine.Set) (found []Gap, err error) {
	names := map[string]string{}
	for _, set := range []*engine.Set{old, fresh} {
		for _, app := range set.Apps() {
			names[app.Name] = engine.AppRules(app.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		left, err := unlike(ctx, old, fresh, names[name])
		if err != nil {
			return nil, err
		}
		for _, at := range left {
			found = append(found, gap(at, "what is asked of the app "+name, "all questions to the app, which is not the same in both trees"))
		}
	}
	left, err := unlike(ctx, old, fresh, "data.system.log")
	for _, at := range left {
		found = append(found, gap(at, "events of the decision log", "what is masked and dropped of them, which is not the same in both trees"))
	}
	return found, err
}

// below returns the places of rules that give parts of what is compared, which has no rule of its own to be asked.
func (c *comparison) below(of ask) (found []Gap) {
	ref := ast.MustParseRef(of.rule)
	for _, r := range c.rules {
		if of.rule == of.entry || len(r.compiler.GetRulesExact(ref)) > 0 {
			continue
		}
		for _, rule := range r.compiler.GetRulesWithPrefix(ref) {
			found = append(found, gap(rule.Location, of.rule, "what an explanation tells of it"))
		}
	}
	return found
}

// replaced returns the places where rules on which a rule rests have a `with`: what it puts in the place of an input is not
// followed, and nothing that such a rule reads can be told apart from anything else.
func (c *comparison) replaced(by string) (found []Gap) {
	for _, r := range c.rules {
		seen := map[*group]bool{}
		var visit func(g *group)
		visit = func(g *group) {
			if seen[g] {
				return
			}
			seen[g] = true
			for _, rule := range g.defined {
				ast.WalkExprs(rule, func(e *ast.Expr) bool {
					if len(e.With) > 0 {
						found = append(found, gap(e.Location, "what a `with` replaces", "all questions to "+strings.TrimPrefix(by, "data.authz.")))
					}
					return false
				})
			}
			for _, dep := range g.deps {
				visit(dep)
			}
		}
		visit(r.groups[by])
	}
	return found
}

// unlike returns the place of the first rule below a reference that one of the trees lacks, or that rests on other rules or
// data there: one place for each tree that has such a rule. Where the document beside the rules differs, any rule has
// changed.
func unlike(ctx context.Context, old, fresh *engine.Set, pkg string) (places []*ast.Location, err error) {
	var forms [2]map[string]*ast.Location
	for i, set := range []*engine.Set{old, fresh} {
		r, err := openRules(ctx, set)
		if err != nil {
			return nil, err
		}
		defer r.close(ctx)
		document, err := r.read(ctx, ast.MustParseRef(pkg))
		if err != nil {
			return nil, err
		}
		all, err := r.forms(ctx, pkg)
		if err != nil {
			return nil, err
		}
		forms[i] = map[string]*ast.Location{}
		for name, of := range all {
			for text, at := range of {
				forms[i][fingerprint([]string{document, name, text})] = at
			}
		}
	}
	for i := range forms {
		var first *ast.Location
		for form, at := range forms[1-i] {
			if forms[i][form] == nil && (first == nil || at.Compare(first) < 0) {
				first = at
			}
		}
		if first != nil {
			places = append(places, first)
		}
	}
	return places, nil
}
