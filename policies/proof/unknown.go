package proof

import (
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/resources"
)

// unknownActions tells of actions that the rules name and that the tree does not list: one that is misspelt grants or
// denies nothing. Every constant of an action's form counts, wherever a rule compares it or looks it up. The actions of
// apps are their own.
func unknownActions(c *ast.Compiler, listed []resources.ListedAction, tell func(loc *ast.Location, problem string)) {
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
			tell(t.Location, "action "+string(text)+" is unknown: no route or tool has it, and actions/data.json does not list it; "+
				"correct its name, or list it there")
			return false
		})
	}
}
