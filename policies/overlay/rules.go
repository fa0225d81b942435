package overlay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// ownPrefix begins every name that an overlay adds to the base's packages. No base has such a name
// (TestBaseHasNoOwnNames).
const ownPrefix = "own_"

const (
	authzPackage = "data.authz"
	testsPackage = "data.authz_test"
	guardPackage = "data.guards"
	logPackage   = "data.system.log"
	appsPackage  = "data.apps"
	toolsPackage = "data.tools"
	denyRuleCode = "deny_rule"
)

// checkRules holds the rules of the overlay to the extension points and to names of their own.
func (x *merge) checkRules() {
	x.rules, x.used = map[string]*ast.Rule{}, map[ast.Var]bool{}
	modules, _ := parse(x.base) // it is a tree that was proved
	for _, module := range modules {
		for _, r := range module.Rules {
			x.rules[pathOf(r).String()] = r
		}
		if module.Package.Path.String() == authzPackage {
			ast.WalkVars(module, func(v ast.Var) bool {
				x.used[v] = true
				return false
			})
		}
	}
	e := x.extensions()
	for name, module := range x.modules {
		x.checkModule(name, module)
		for _, r := range module.Rules {
			x.checkRule(name, r, e)
		}
	}
}

// pathOf returns the path of a rule's document, without what its head adds for one element.
func pathOf(r *ast.Rule) ast.Ref { return r.Ref().GroundPrefix() }

// nameOf returns the first part of a rule's name, by which the rules of its package see it.
func nameOf(r *ast.Rule) ast.Var {
	name, _ := r.Head.Ref()[0].Value.(ast.Var)
	return name
}

// replaces says whether a file takes the place of one of the base that has rules of this name.
func (x *merge) replaces(file string, name ast.Var) bool {
	replaced := x.replaced[file]
	return replaced != nil && slices.ContainsFunc(replaced.Rules, func(r *ast.Rule) bool { return nameOf(r) == name })
}

// checkModule refuses the base's packages, and annotations with schemas: the checker would hold the base's rules
// against them.
func (x *merge) checkModule(name string, module *ast.Module) {
	pkg := module.Package.Path.String()
	isTest := strings.HasSuffix(name, testSuffix)
	allowed := pkg == authzPackage || pkg == testsPackage
	for _, root := range []string{guardPackage, logPackage, appsPackage, toolsPackage, guardPackage + "_test", logPackage + "_test"} {
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
		isWide := len(a.Schemas) > 0 || a.Scope == "package" || a.Scope == "subpackages"
		perFolder := strings.HasPrefix(pkg, appsPackage+".") || strings.HasPrefix(pkg, toolsPackage+".")
		if isWide && !perFolder && !x.hasAnnotation(x.replaced[name], a) {
			x.problems.add(name, a.Location.Row, "an annotation with schemas, or of a whole package, changes what the checker holds the base's rules against: take it out")
		}
	}
}

// hasAnnotation says whether a file that is replaced has the schemas of an annotation.
func (x *merge) hasAnnotation(replaced *ast.Module, a *ast.Annotations) bool {
	return replaced != nil && slices.ContainsFunc(replaced.Annotations, func(was *ast.Annotations) bool {
		return was.Scope == a.Scope && slices.EqualFunc(was.Schemas, a.Schemas, func(b, c *ast.SchemaAnnotation) bool { return b.Compare(c) == 0 })
	})
}

// checkRule refuses a rule that would be one of the base's.
func (x *merge) checkRule(file string, r *ast.Rule, e *extensions) {
	path, name, row := pathOf(r), nameOf(r), r.Location.Row
	pkg := r.Module.Package.Path.String()
	if isPoint, problem := x.extends(e, r); isPoint {
		if problem != "" && !x.replaces(file, name) {
			x.problems.add(file, row, "%s", problem)
		}
		return
	}
	for _, other := range x.rules {
		if basePath := pathOf(other); path.HasPrefix(basePath) || basePath.HasPrefix(path) {
			x.problems.add(file, row, "%s is a rule of the base (%s%s): begin your own name with %s, or replace the file, as `portcullis policy replace %[3]s` prepares",
				strings.TrimPrefix(path.String(), pkg+"."), baseMark, other.Location.File, ownPrefix)
			return
		}
	}
	isOwn := strings.HasPrefix(string(name), ownPrefix)
	switch {
	case isOwn:
	case x.replaced[file] != nil:
		if x.used[name] && !x.replaces(file, name) {
			x.problems.add(file, row, "%s: the rules of the base use this name, and %s%s has no rule of it: begin your own name with %s", name, baseMark, file, ownPrefix)
		}
	case pkg == authzPackage:
		x.problems.add(file, row, "%s: the name of an own rule begins with %s, so that no upgrade of the base takes it", name, ownPrefix)
	case pkg == testsPackage && !strings.HasPrefix(string(name), "test_"+ownPrefix):
		x.problems.add(file, row, "%s: the name of an own test begins with test_%s, and that of a helper with %[2]s, so that no upgrade of the base takes it", name, ownPrefix)
	}
}

// extensions are what an overlay adds at the extension points.
type extensions struct {
	codes  map[string]bool // the conditions that it lists
	texts  map[string]bool // the codes with a text
	denies map[string]bool // the constant reasons of its deny rules
}

func (x *merge) extensions() *extensions {
	e := &extensions{map[string]bool{}, map[string]bool{}, map[string]bool{}}
	for _, module := range x.modules {
		for _, r := range module.Rules {
			e.texts[textOf(r)] = true
			switch pathOf(r).String() {
			case authzPackage + ".condition_codes":
				e.codes[textIn(r.Head.Key)] = true
			case authzPackage + ".deny":
				e.denies[textIn(r.Head.Key)] = true
			}
		}
	}
	return e
}

// extends reports whether a rule is at an extension point, and the problem of its form there.
func (x *merge) extends(e *extensions, r *ast.Rule) (extension bool, problem string) {
	if r.Module.Package.Path.String() != authzPackage {
		return false, ""
	}
	isElement := r.Head.DocKind() == ast.PartialSetDoc && len(r.Head.Ref()) == 1 && r.Else == nil && !r.Default
	code := textIn(r.Head.Key)
	switch nameOf(r) {
	case "deny":
		if !isElement {
			return true, `deny: an overlay adds to it with deny contains "<reason>" if …, and in no other form`
		}
	case "condition_codes":
		if !isElement || !strings.HasPrefix(code, ownPrefix) || !isFact(r) {
			return true, `condition_codes: an overlay adds to it with condition_codes contains "own_<code>", a constant without conditions`
		}
		if !e.texts[code] {
			return true, "condition_codes: " + code + " has no text, and callers would read that no role grants the action: add reason_texts[\"" + code + "\"] := \"<text>\""
		}
	case "met":
		if !isElement || !e.codes[code] || !strings.HasPrefix(code, ownPrefix) {
			return true, `met: an overlay says with met contains "own_<code>" if … when a condition holds that it lists in condition_codes itself`
		}
	case "public_reasons":
		if !isElement || !e.isOwnDenial(r) {
			return true, `public_reasons: an overlay adds to it with public_reasons contains ["<reason>", "deny_rule"] if "<reason>" in deny, where the reason is the constant of one of its deny rules`
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
	case replaces:
		return x.checkValues(code, textIn(r.Head.Value))
	}
	return ""
}

// checkValues returns what is wrong with a replaced text. The base's rules put their values into it by sprintf.
func (x *merge) checkValues(code, text string) string {
	part, exists := x.parts[textsFolder+"/"+code]
	if !exists {
		return "" // checkReplaced reports it
	}
	values := strings.Count(textIn(part.rule.Head.Value), "%s")
	if strings.Count(text, "%s") == values && strings.Count(text, "%") == values {
		return ""
	}
	return fmt.Sprintf("reason_texts: the rules of the base put %d values into the text of %s: write %%s as often, and no other %%", values, code)
}

// isOwnDenial says whether an element of public_reasons is there if, and only if, a deny rule of the overlay denies for
// that reason.
func (e *extensions) isOwnDenial(r *ast.Rule) bool {
	pair, isList := r.Head.Key.Value.(*ast.Array)
	if !isList || pair.Len() != 2 || textIn(pair.Elem(1)) != denyRuleCode || !e.denies[textIn(pair.Elem(0))] {
		return false
	}
	fires := ast.Member.Expr(pair.Elem(0), ast.VarTerm("deny"))
	return len(r.Body) == 1 && r.Body[0].Equal(fires) && !slices.ContainsFunc(r.Module.Imports, func(i *ast.Import) bool { return i.Name() == "deny" })
}

// textOf returns the code of a rule reason_texts["<code>"] := …, and "" for any other rule.
func textOf(r *ast.Rule) string {
	ref := r.Head.Ref()
	if len(ref) != 2 || nameOf(r) != textsFolder || r.Module.Package.Path.String() != authzPackage || r.Head.DocKind() == ast.PartialSetDoc || len(r.Head.Args) > 0 || r.Default {
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
