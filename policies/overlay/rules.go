package overlay

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// ownPrefix begins every name that an overlay adds to the base's packages. No base has such a name (TestBaseHasNoOwnNames).
const ownPrefix = "own_"

const (
	authzPackage = "data.authz"
	testsPackage = "data.authz_test"
	guardPackage = "data.guards"
	logPackage   = "data.system.log"
	denyRuleCode = "deny_rule"
)

// rule is a rule of the base.
type rule struct{ file string }

// checkRules holds the rules of the overlay to the extension points and to names of their own.
func (x *merge) checkRules() {
	x.rules = map[string]*rule{}
	modules, _ := parse(x.base) // it is a tree that was proved
	for name, module := range modules {
		for _, r := range module.Rules {
			x.rules[pathOf(r)] = &rule{name}
		}
	}
	e := x.extensions()
	for name, module := range x.own {
		x.checkModule(name, module)
		for _, r := range module.Rules {
			x.checkRule(name, r, e)
		}
	}
}

// pathOf returns the path of a rule's document, without what its head adds for one element.
func pathOf(r *ast.Rule) string { return r.Ref().GroundPrefix().String() }

// checkModule refuses packages that are the base's, and annotations that change what its rules are held against.
func (x *merge) checkModule(name string, module *ast.Module) {
	pkg := module.Package.Path.String()
	isTest := strings.HasSuffix(name, testSuffix)
	allowed := pkg == authzPackage || pkg == testsPackage
	for _, root := range []string{guardPackage, logPackage, "data.apps", "data.tools", guardPackage + "_test", logPackage + "_test"} {
		allowed = allowed || pkg == root || strings.HasPrefix(pkg, root+".")
	}
	switch {
	case !allowed:
		x.problems.add(name, module.Package.Location.Row,
			"package %s is not an overlay's: its packages are authz, guards, system.log, apps.<name>, tools.<name> and their tests", strings.TrimPrefix(pkg, "data."))
	case pkg == testsPackage && !isTest:
		x.problems.add(name, module.Package.Location.Row, "tests are in a file whose name ends in %s", testSuffix)
	}
	for _, a := range module.Annotations {
		if len(a.Schemas) > 0 || a.Scope == "package" || a.Scope == "subpackages" {
			x.problems.add(name, a.Location.Row, "an annotation with schemas, or of a whole package, changes what the checker holds the base's rules against: take it out")
		}
	}
}

// checkRule refuses a rule that would be one of the base's.
func (x *merge) checkRule(file string, r *ast.Rule, e *extensions) {
	path, row := pathOf(r), r.Location.Row
	pkg := r.Module.Package.Path.String()
	_, replaces := x.manifest.Replaces[file]
	if known, extends := x.extends(e, r); known && !replaces {
		if extends != "" {
			x.problems.add(file, row, "%s", extends)
		}
		return
	}
	for other, base := range x.rules {
		if replaces && isExtensible(path) {
			break
		}
		if path == other || strings.HasPrefix(path, other+".") || strings.HasPrefix(other, path+".") {
			x.problems.add(file, row, "%s is a rule of the base (%s%s): name your own %s…, or replace the file, as `portcullis policy replace %[4]s` prepares",
				strings.TrimPrefix(path, pkg+"."), baseMark, base.file, ownPrefix, base.file)
			return
		}
	}
	name := strings.TrimPrefix(path, pkg+".")
	switch {
	case replaces:
	case pkg == authzPackage && !strings.HasPrefix(name, ownPrefix):
		x.problems.add(file, row, "%s: the name of an own rule begins with %s, so that no upgrade of the base takes it", name, ownPrefix)
	case pkg == testsPackage && !strings.HasPrefix(name, ownPrefix) && !strings.HasPrefix(name, "test_"+ownPrefix):
		x.problems.add(file, row, "%s: the name of an own test begins with test_%s, and that of a helper with %[2]s, so that no upgrade of the base takes it", name, ownPrefix)
	}
}

// isExtensible says whether a path is one of the extension points, to which several files add.
func isExtensible(path string) bool {
	name := strings.TrimPrefix(path, authzPackage+".")
	return slices.Contains([]string{"deny", "condition_codes", "met", "public_reasons"}, name) || name == textsFolder || strings.HasPrefix(name, textsFolder+".")
}

// extensions are what an overlay adds at the extension points.
type extensions struct {
	codes  map[string]bool // the conditions that it lists
	denies map[string]bool // the constant reasons of its deny rules
}

func (x *merge) extensions() *extensions {
	e := &extensions{map[string]bool{}, map[string]bool{}}
	for _, module := range x.own {
		for _, r := range module.Rules {
			switch pathOf(r) {
			case authzPackage + ".condition_codes":
				e.codes[textIn(r.Head.Key)] = true
			case authzPackage + ".deny":
				e.denies[textIn(r.Head.Key)] = true
			}
		}
	}
	return e
}

// extends says whether a rule is at an extension point, and what is wrong with its form there.
func (x *merge) extends(e *extensions, r *ast.Rule) (known bool, problem string) {
	if r.Module.Package.Path.String() != authzPackage {
		return false, ""
	}
	name, rest, _ := strings.Cut(strings.TrimPrefix(pathOf(r), authzPackage+"."), ".")
	if name != textsFolder && strings.HasPrefix(pathOf(r), authzPackage+"."+textsFolder+"[") {
		name = textsFolder
	}
	isElement := r.Head.DocKind() == ast.PartialSetDoc && rest == "" && r.Else == nil && !r.Default
	code := textIn(r.Head.Key)
	switch name {
	case "deny":
		if !isElement {
			return true, `deny: an overlay adds to it with deny contains "<reason>" if …, and in no other form`
		}
	case "condition_codes":
		if !isElement || !strings.HasPrefix(code, ownPrefix) || !isFact(r) {
			return true, `condition_codes: an overlay adds to it with condition_codes contains "own_<code>", a constant without conditions`
		}
	case "met":
		if !isElement || !e.codes[code] || !strings.HasPrefix(code, ownPrefix) {
			return true, `met: an overlay says with met contains "own_<code>" if … when a condition holds that it lists in condition_codes itself`
		}
	case "public_reasons":
		if !isElement || !e.isOwnDenial(r.Head.Key) {
			return true, `public_reasons: an overlay adds to it with public_reasons contains ["<reason>", "deny_rule"] if …, where the reason is the constant of one of its deny rules`
		}
	case textsFolder:
		return true, x.checkText(r)
	default:
		return false, ""
	}
	return true, ""
}

// checkText returns what is wrong with the rule of a reason's text.
func (x *merge) checkText(r *ast.Rule) string {
	code := textOf(r)
	_, replaces := x.manifest.Replaces[textsFolder+"/"+code]
	switch {
	case code == "" || textIn(r.Head.Value) == "" || !isFact(r):
		return `reason_texts: an overlay adds to it with reason_texts["own_<code>"] := "<text>", constants without conditions`
	case x.parts[textsFolder+"/"+code].Text != nil && !replaces:
		return "reason_texts: " + code + " is a code of the base; `portcullis policy replace " + textsFolder + "/" + code + "` prepares another text of it"
	case !replaces && !strings.HasPrefix(code, ownPrefix):
		return "reason_texts: the code of an own reason begins with " + ownPrefix + ", not " + code
	}
	return ""
}

// isOwnDenial says whether an element of public_reasons is that of a deny rule of the overlay.
func (e *extensions) isOwnDenial(element *ast.Term) bool {
	pair, isList := element.Value.(*ast.Array)
	return isList && pair.Len() == 2 && textIn(pair.Elem(1)) == denyRuleCode && textIn(pair.Elem(0)) != "" && e.denies[textIn(pair.Elem(0))]
}

// textOf returns the code of which a rule gives the text: the rule is reason_texts["<code>"] := …, and "" of any other.
func textOf(r *ast.Rule) string {
	ref := r.Head.Ref()
	if len(ref) != 2 || ref[0].String() != textsFolder || r.Head.DocKind() == ast.PartialSetDoc || len(r.Head.Args) > 0 || r.Default {
		return ""
	}
	return textIn(ref[1])
}

// textIn returns a constant text, "" of anything else.
func textIn(t *ast.Term) string {
	if t == nil {
		return ""
	}
	text, _ := t.Value.(ast.String)
	return string(text)
}

// isFact says whether a rule has no conditions.
func isFact(r *ast.Rule) bool {
	return r.Else == nil && !r.Default && len(r.Body) == 1 && r.Body[0].Equal(ast.NewExpr(ast.BooleanTerm(true)))
}
