package compare

import (
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/question"
	"github.com/portcullis-authz/portcullis/resources"
)

// Names that stand for any: no record has them.
const (
	anyAccount, otherAccount          = "acct-any-v0", "acct-other-v0"
	anyUser, anyUUID                  = "user-any-v0", "uuid-any-v0"
	otherUser, otherUUID              = "user-other-v0", "uuid-other-v0"
	anyProject, otherProject          = "proj-any-v0", "proj-other-v0"
	anyResource, besideIt             = "things/any-v0", "things/beside-v0"
	anyRole, anyService               = "role-any-v0", resources.ServicePrefix + "any"
	aCollection, below                = "things", "/parts-v0"
	anyScope                          = "any:scope-v0"
	unknownResource                   = "unheard-of"
	unknownVerb                       = "unheard-of"
	ended, theTime, later, afterwards = resources.Time(1), resources.Time(1_000_000), resources.Time(2_000_000), resources.Time(3_000_000)
)

// standsForAny says whether a text is one of these names, or one in it.
func standsForAny(text string) bool {
	return slices.Contains([]string{
		anyAccount, otherAccount, anyUser, anyUUID, otherUser, otherUUID, anyProject, otherProject, anyResource, besideIt, anyRole, anyService, anyScope,
		unknownResource, unknownVerb, aCollection, anyResource + below,
	}, text)
}

// constants are what the rules of both trees compare parts of the input with.
type constants map[string]map[string]ast.Value

func (c constants) add(more map[string]map[string]ast.Value) {
	for path, values := range more {
		if c[path] == nil {
			c[path] = map[string]ast.Value{}
		}
		maps.Copy(c[path], values)
	}
}

// texts returns the constants of the paths that are texts, those given before them.
func (c constants) texts(given []string, paths ...string) []string {
	out := slices.Clone(given)
	for _, path := range paths {
		for _, key := range slices.Sorted(maps.Keys(c[path])) {
			if text, ok := c[path][key].(ast.String); ok && text != "" && !slices.Contains(out, string(text)) {
				out = append(out, string(text))
			}
		}
	}
	return out
}

// statuses returns those that a column has, ACTIVE first; "" stands for one that it does not know.
func statuses(path string) []string {
	out := []string{resources.StatusActive}
	for _, row := range question.Table() {
		if row.Path == path {
			out = append(out, row.Values...)
		}
	}
	if len(out) == 1 { // of an assignment
		out = append(out, resources.StatusInactive, "")
	}
	return slices.Compact(append(out[:1], slices.DeleteFunc(out[1:], func(s string) bool { return s == resources.StatusActive })...))
}

// times returns the given ones, the constants of the paths, and those just before and after.
func (c constants) times(given []resources.Time, paths ...string) []resources.Time {
	out := slices.Clone(given)
	for _, path := range paths {
		for _, key := range slices.Sorted(maps.Keys(c[path])) {
			number, ok := c[path][key].(ast.Number)
			moment, whole := number.Int64()
			if !ok || !whole {
				continue
			}
			for _, t := range []resources.Time{resources.Time(moment) - 1, resources.Time(moment), resources.Time(moment) + 1} {
				if t > 0 && !slices.Contains(out, t) {
					out = append(out, t)
				}
			}
		}
	}
	return out
}

// State is a condition of a question by its name, as user or account.
type State struct{ Name, Value string }

// asking is what is asked: a row of the catalogue and its action, in each tree. One that a tree does not have is nil.
type request struct {
	old, next *resources.Route
	name      string
	action    [2]resources.Action
	// as are the names and actions of those that no rule can tell apart from it, itself among them.
	aliases []alias
}

// alias is another row and action that is asked about with the same answers.
type alias struct {
	route  string
	action [2]string
}

// person is who is concerned.
type person struct {
	principal          resources.Principal
	subject            *resources.Subject // nil where no facts are read
	account            string
	caller, credential string
	states             []State
	impossible         bool
}

// place is the target.
type target struct {
	target       resources.Target
	projectState string
	states       []State
	impossible   bool
}

// holding is what the user holds.
type holding struct {
	held         []resources.HeldRole
	role, target string
	// two are the roles and places of a pair.
	pair [][2]string
	// pattern is what a custom role has been made for; it is asked about actions that have the pattern.
	pattern    string
	system     []string // the system roles among them
	states     []State
	impossible bool
}

// granting is what is to be granted, and when it is asked.
type grantCase struct {
	permissions []string
	until, now  resources.Time
	states      []State
	impossible  bool
}
