package compare

import (
	"cmp"
	"context"
	"maps"
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
		before, err := argumentForms(ctx, old, server)
		if err != nil {
			return nil, err
		}
		after, err := argumentForms(ctx, next, server)
		if err != nil {
			return nil, err
		}
		for form, r := range before {
			if _, stays := after[form]; !stays {
				r.Old = r.New
				r.New = ""
				changed = append(changed, r)
			}
		}
		for form, r := range after {
			if _, existed := before[form]; !existed {
				changed = append(changed, r)
			}
		}
	}
	slices.SortFunc(changed, func(a, b ArgumentRule) int {
		return cmp.Or(cmp.Compare(a.Server, b.Server), cmp.Compare(a.Message, b.Message), cmp.Compare(a.Old, b.Old), cmp.Compare(a.New, b.New))
	})
	return changed, nil
}

// argumentForms returns the rules over arguments of a tree by their fingerprints. New names the form of each.
func argumentForms(ctx context.Context, set *engine.Set, server string) (map[string]ArgumentRule, error) {
	r, err := openRules(ctx, set)
	if err != nil {
		return nil, err
	}
	defer r.close(ctx)
	deny := engine.ToolRules(server) + ".deny"
	all, err := r.forms(ctx, deny)
	if err != nil {
		return nil, err
	}
	out := map[string]ArgumentRule{}
	for _, message := range slices.Sorted(maps.Keys(all)) {
		for form, location := range all[message] {
			rule := ArgumentRule{Server: server, Message: message, location: location}
			rule.New = location.File + ":" + strconv.Itoa(location.Row) + " sha256:" + form[:12]
			if message == deny {
				rule.Message = ""
			}
			out[message+" "+form] = rule
		}
	}
	return out, nil
}

// argumentGaps returns a gap for each rule over arguments that the new tree lacks: since such rules only deny, the new
// tree may let in what they denied. No table has arguments.
func argumentGaps(changed []ArgumentRule) (gaps []Gap) {
	for _, rule := range changed {
		if rule.Old != "" {
			gaps = append(gaps, gap(rule.location, "the arguments of tools of "+rule.Server, "calls denied by the rule, which the new tree lacks in this form"))
		}
	}
	return gaps
}
