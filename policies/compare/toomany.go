package compare

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/engine"
)

// Limits of a table. mostPoints does not count holdings. The others limit the values of a part before they are merged,
// and with them the memory. A person counts once for all states of the user and of an agent.
const (
	mostPoints   = 5_000_000
	mostPersons  = 15_000
	mostTargets  = 200_000
	mostHoldings = 100_000
	mostScopes   = 12
)

// errTooMany says that the rules of a root name too many values to compare all questions.
var errTooMany = errors.New("compare: too many values")

// tooManyValues says whether a table would have too many persons or targets, or a service too many scopes.
func (c constants) tooManyValues(anyCaller bool) bool {
	if len(c.serviceScopes()) > mostScopes {
		return true
	}
	persons := len(c.accounts()) * len(c.userIDs()) * len(c.callers(anyCaller))
	places := len(c.pathRests()) * (1 + len(c.projects())*len(projectStates()))
	return persons > mostPersons || len(c.pathAccounts())*len(c.pathUsers())*places > mostTargets
}

// tooMany returns the gaps of a root with too many points: at the root, and in each file in which a rule or a document
// differs between the trees.
func (c *comparison) tooMany(ctx context.Context, root root) (gaps []Gap, err error) {
	add := func(location *ast.Location) {
		gaps = append(gaps, gap(location, strings.TrimPrefix(root.rule, "data.authz."), "all questions to it: rules name so much that there are too many"))
	}
	add(cmp.Or(c.rules[1].groups[root.rule].location, c.rules[0].groups[root.rule].location, c.rules[1].reached[0].Location))
	var texts [2]map[string]bool
	var documents [2]ast.Object
	for i, r := range c.rules {
		texts[i] = map[string]bool{}
		for _, rule := range r.reached {
			texts[i][rule.Location.File+" "+engine.RuleText(rule)] = true
		}
		all, err := r.documentValue(ctx, ast.DefaultRootRef)
		if err != nil {
			return nil, err
		}
		documents[i] = all.(ast.Object)
	}
	for i, r := range c.rules {
		other, changed := 1-i, map[string]bool{}
		for _, rule := range r.reached {
			if file := rule.Location.File; !changed[file] && !texts[other][file+" "+engine.RuleText(rule)] {
				changed[file] = true
				add(rule.Location)
			}
		}
		documents[i].Foreach(func(name, document *ast.Term) {
			if same := documents[other].Get(name); same == nil || !same.Equal(document) {
				add(&ast.Location{File: strings.Trim(name.String(), `"`) + "/data.json", Row: 1})
			}
		})
	}
	return gaps, nil
}
