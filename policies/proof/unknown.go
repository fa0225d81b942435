package proof

import (
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/resources"
)

// unknownActions reports actions in rules that the tree does not list: a misspelt action grants or denies nothing. It
// takes every string of an action's form for an action. It skips apps, since they have their own actions.
func unknownActions(c *ast.Compiler, listed []resources.ListedAction, report func(loc *ast.Location, problem string)) {
	names := make(map[string]bool, len(listed))
	for _, action := range listed {
		names[action.ID] = true
	}
	for file, module := range c.Modules {
		if strings.HasPrefix(file, appsFolder+"/") {
			continue
		}
		ast.WalkTerms(module, func(t *ast.Term) bool {
			text, isText := t.Value.(ast.String)
			if _, err := resources.ParseAction(string(text)); !isText || err != nil || names[string(text)] || t.Location == nil {
				return false
			}
			report(t.Location, "action "+string(text)+" is unknown: no route or tool has it, and actions/data.json does not list it; "+
				"correct its name, or list it there")
			return false
		})
	}
}
