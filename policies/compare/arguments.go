package compare

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/engine"
)

// ArgumentRule is a rule over the arguments of an MCP server's tools that only one of two trees has. A rule has changed if
// its text differs, or a rule or a document that it depends on.
type ArgumentRule struct {
	Server string
	// Message is the rule's, "" if it is not constant.
	Message string
	// Old and New name the rule's form in each tree, "" in one that lacks it.
	Old, New string
	location *ast.Location
}

// ArgumentRules returns the rules over arguments that only one of the trees has, in order.
func ArgumentRules(ctx context.Context, old, next *engine.Set) (changed []ArgumentRule, err error) {
	for _, server := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(old.MCPServers(), next.MCPServers())))) {
		deny := engine.ToolRules(server) + ".deny"
		forms, err := changedForms(ctx, [2]*engine.Set{old, next}, deny)
		if err != nil {
			return nil, err
		}
		for side := range forms {
			for _, f := range forms[side] {
				rule := ArgumentRule{Server: server, location: f.location}
				if f.Name != deny {
					rule.Message = f.Name
				}
				text := f.location.File + ":" + strconv.Itoa(f.location.Row) + " sha256:" + f.print[:12]
				if rule.New = text; side == 0 {
					rule.Old, rule.New = text, ""
				}
				changed = append(changed, rule)
			}
		}
	}
	slices.SortFunc(changed, func(a, b ArgumentRule) int {
		return cmp.Or(cmp.Compare(a.Server, b.Server), cmp.Compare(a.Message, b.Message), cmp.Compare(a.Old, b.Old), cmp.Compare(a.New, b.New))
	})
	return changed, nil
}
