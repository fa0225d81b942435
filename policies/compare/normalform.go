package compare

import (
	"slices"
	"strconv"

	"github.com/open-policy-agent/opa/v1/ast"
)

// formWriter writes rules in a normal form, without the names of their variables. If written is not nil, it also omits
// the rule's own name, and replaces the names of rules it depends on with their fingerprints.
type formWriter struct {
	*rules
	self string
	// written are the rules whose names were replaced.
	written map[string]bool
}

// form returns the normal form of a rule.
func (f *formWriter) form(rule *ast.Rule) string {
	out, vars := rule.Copy(), map[ast.Var]ast.Var{}
	rename := func(t *ast.Term) bool {
		switch v := t.Value.(type) {
		case ast.Var:
			if v.IsGenerated() || v.IsWildcard() {
				if vars[v] == "" {
					vars[v] = ast.Var("@" + strconv.Itoa(len(vars)))
				}
				t.Value = vars[v]
			}
		case ast.Ref:
			t.Value = f.ref(v)
		}
		return false
	}
	for branch := out; branch != nil; branch = branch.Else {
		branch.Annotations = nil
		whole, rest := branch.Ref(), ast.Ref(nil)
		if named := len(whole.GroundPrefix()); named < len(whole) {
			rest = whole[named:]
		}
		name := f.ref(whole.GroundPrefix())
		branch.Head.Name, branch.Head.Reference = "", slices.Concat(name, rest)
		for _, t := range rest {
			ast.WalkTerms(t, rename)
		}
	}
	ast.WalkTerms(out, rename)
	return out.String()
}

// ref returns a reference with the name of a rule replaced by the rule's fingerprint.
func (f *formWriter) ref(ref ast.Ref) ast.Ref {
	if f.written == nil || !ref.HasPrefix(ast.DefaultRootRef) {
		return ref
	}
	prefix := ref.ConstantPrefix()
	for i := len(prefix); i > 1; i-- {
		var text string
		name := prefix[:i].String()
		switch rules := f.compiler.GetRulesExact(prefix[:i]); {
		case name == f.self:
			text = "@self"
		case len(rules) > 0 && len(rules[0].Head.Args) > 0:
			text = "@" + f.function(name, rules)
		case f.groups[name] != nil && f.groups[name].print != "":
			text = "@" + f.groups[name].print
			f.written[name] = true
		default:
			continue
		}
		return append(ast.Ref{ast.VarTerm(text)}, ref[i:]...)
	}
	return ref
}

// function returns the fingerprint of a function. Its own dependencies belong to the group that calls it.
func (f *formWriter) function(name string, rules []*ast.Rule) string {
	w := formWriter{f.rules, name, f.written}
	var texts []string
	for _, rule := range rules {
		texts = append(texts, w.form(rule))
	}
	slices.Sort(texts)
	return fingerprint(texts)
}
