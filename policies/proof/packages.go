package proof

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies"
)

// packages is a folder of the tree with a folder for each package of a kind.
type packages struct {
	folder string
	// one is what a package is about, rules are the rules that it needs, both for people.
	one, rules string
}

// find returns the names of the packages. It reports files of a package outside its folder, files directly in the folder
// of all packages, and folders without rules.
func (k packages) find(src *policies.Source, modules, tests map[string]*ast.Module, p *Problems) []string {
	hasRules := map[string]bool{}
	for _, name := range src.Names {
		rest, isInside := strings.CutPrefix(policies.Place(name), k.folder+"/")
		pkg, _, nested := strings.Cut(rest, "/")
		switch module := cmp.Or(modules[name], tests[name]); {
		case isInside && !nested:
			p.report(name, 0, "is not in the folder of %s: move it to %s/<name>/", k.one, k.folder)
		case isInside:
			hasRules[pkg] = hasRules[pkg] || isModule(name) && !isTest(name)
			if module != nil {
				k.check(name, pkg, module, tests[name] != nil, p)
			}
		case module != nil && len(module.Package.Path) > 1 && partOf(module, 1) == k.folder:
			p.report(name, module.Package.Location.Row, "package %s is that of %s: its files are in %s", module.Package.Path, k.one, path.Join(k.folder, partOf(module, 2)))
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(hasRules)) {
		if !hasRules[pkg] {
			p.report(path.Join(k.folder, pkg), 0, "has no rules: it needs a package %s with %s", k.path(pkg), k.rules)
		}
	}
	return slices.Sorted(maps.Keys(hasRules))
}

// partOf returns part i of the path of the module's package, "" if the path is shorter.
func partOf(module *ast.Module, i int) string {
	if i >= len(module.Package.Path) {
		return ""
	}
	part, _ := module.Package.Path[i].Value.(ast.String)
	return string(part)
}

// path returns a package as Rego writes it.
func (k packages) path(pkg string) string {
	return strings.TrimPrefix(ast.Ref{ast.DefaultRootDocument, ast.StringTerm(k.folder), ast.StringTerm(pkg)}.String(), "data.")
}

func (k packages) check(name, pkg string, module *ast.Module, isTest bool, p *Problems) {
	want := pkg
	if isTest {
		want += "_test"
	}
	if len(module.Package.Path) != 3 || partOf(module, 1) != k.folder || partOf(module, 2) != want {
		p.report(name, module.Package.Location.Row, "the package must be %s, not %s: a folder is that of %s", k.path(want), module.Package.Path, k.one)
	}
}
