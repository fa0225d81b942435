package engine

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/question"
)

// restricting are the rules that a tree may have in its own form: they only take away what decision allows by a role,
// or word its reason.
func restricting() []string {
	return []string{"preconditions_met", "public_reasons", "refusals", "reason_texts"}
}

// byRoles says whether the rules by which a decision can allow are the embedded tree's, as compiled: only assigned roles
// allow then.
func byRoles(compiler *ast.Compiler) (bool, error) {
	embedded, err := embeddedRules()
	if err != nil {
		return false, err
	}
	return maps.EqualFunc(allowingRules(compiler), embedded, slices.Equal), nil
}

// embeddedRules returns the embedded tree's rules by which a decision can allow.
var embeddedRules = sync.OnceValues(func() (map[string][]string, error) {
	modules := map[string]*ast.Module{}
	files, err := fs.Glob(policies.Tree(), "authz/*.rego")
	for _, file := range files {
		if strings.HasSuffix(file, "_test.rego") || err != nil {
			continue
		}
		var raw []byte
		if raw, err = fs.ReadFile(policies.Tree(), file); err == nil {
			modules[path.Base(file)], err = ast.ParseModule(file, string(raw))
		}
	}
	if err != nil {
		return nil, err
	}
	c := ast.NewCompiler()
	if c.Compile(modules); c.Failed() {
		return nil, c.Errors
	}
	return allowingRules(c), nil
})

// allowingRules returns the compiled texts of the rules on which decision depends, by name and sorted; restricting ones
// are left out, with what only they depend on.
func allowingRules(c *ast.Compiler) map[string][]string {
	texts := map[string][]string{}
	restricts := func(rule *ast.Rule) bool {
		whole, _, _ := strings.Cut(shortName(rule), ".") // a text of a reason is a member of the rule
		return slices.Contains(restricting(), whole)
	}
	for _, rule := range question.Reachable(c, c.GetRulesExact(ast.MustParseRef(EntryDecision)), restricts) {
		if name := shortName(rule); !restricts(rule) {
			texts[name] = append(texts[name], RuleText(rule))
		}
	}
	for _, lines := range texts {
		slices.Sort(lines)
	}
	return texts
}

func shortName(rule *ast.Rule) string {
	return strings.TrimPrefix(rule.Ref().GroundPrefix().String(), "data.authz.")
}

// RuleText returns the text of a compiled rule, without its annotations. It numbers the compiler's variables anew: the
// compiler counts them over all files of a tree.
func RuleText(rule *ast.Rule) string {
	out, vars := rule.Copy(), map[ast.Var]ast.Var{}
	rename := func(t *ast.Term) bool {
		if v, ok := t.Value.(ast.Var); ok && (v.IsGenerated() || v.IsWildcard()) {
			if vars[v] == "" {
				vars[v] = ast.Var("@" + strconv.Itoa(len(vars)))
			}
			t.Value = vars[v]
		}
		return false
	}
	for branch := out; branch != nil; branch = branch.Else {
		branch.Annotations = nil
		for _, t := range branch.Head.Reference { // which a walk leaves out
			ast.WalkTerms(t, rename)
		}
	}
	ast.WalkTerms(out, rename)
	return out.String()
}
