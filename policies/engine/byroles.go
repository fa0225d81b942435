package engine

import (
	"io/fs"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies"
)

// allowing returns the rules of package authz by which a decision can allow.
func allowing() []string {
	return []string{"decision", "granting_role", "_granting_roles", "_counts", "_permissions", "_reaches", "allowed", "denied", "refused", "reason_no_role"}
}

// byRoles says whether those rules are the embedded tree's, so that nobody is allowed what no role that is
// assigned to them grants. Conditions and deny rules of one's own take away only.
func byRoles(compiler *ast.Compiler) (bool, error) {
	embedded, err := embeddedRules()
	if err != nil {
		return false, err
	}
	for _, name := range allowing() {
		var texts []string
		for _, rule := range compiler.GetRulesExact(ast.MustParseRef("data.authz." + name)) {
			texts = append(texts, string(rule.Location.Text))
		}
		slices.Sort(texts)
		if !slices.Equal(texts, embedded[name]) {
			return false, nil
		}
	}
	return true, nil
}

// embeddedRules returns the texts of the embedded rules by their names, in order.
func embeddedRules() (map[string][]string, error) {
	texts := map[string][]string{}
	for _, file := range []string{"authz/decision.rego", "authz/reasons.rego", "authz/roles.rego"} {
		raw, err := fs.ReadFile(policies.Tree(), file)
		if err != nil {
			return nil, err
		}
		module, err := ast.ParseModule(file, string(raw))
		if err != nil {
			return nil, err
		}
		for _, rule := range module.Rules {
			name := rule.Head.Name.String()
			texts[name] = append(texts[name], string(rule.Location.Text))
		}
	}
	for _, of := range texts {
		slices.Sort(of)
	}
	return texts, nil
}
