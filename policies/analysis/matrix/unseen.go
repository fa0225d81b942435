package matrix

import (
	"context"
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/engine"
)

// apps are the apps that the trees do not have alike. Their callers send questions of any form, so no table
// holds them.
func apps(ctx context.Context, old, fresh *engine.Set) (found []Gap, err error) {
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
	return found, nil
}

// unlike is the place of the first rule below a reference that one of the trees lacks, or that rests on other rules or
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
