package compare

import (
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/question"
	"github.com/portcullis-authz/portcullis/resources"
)

// Names that stand for any other. No record has them.
const (
	AnyAccount      = "acct-any-v0"
	OtherAccount    = "acct-other-v0"
	AnyUser         = "user-any-v0"
	AnyUUID         = "uuid-any-v0"
	OtherUser       = "user-other-v0"
	otherUUID       = "uuid-other-v0"
	AnyProject      = "proj-any-v0"
	otherProject    = "proj-other-v0"
	AnyResource     = "things/any-v0"
	otherResource   = "things/beside-v0"
	pathBelow       = "/parts-v0"
	aCollection     = "things"
	anyRole         = "role-any-v0"
	anyService      = resources.ServicePrefix + "any"
	anyScope        = "any:scope-v0"
	unknownResource = "unheard-of"
	unknownVerb     = "unheard-of"
)

// The times of questions, in order. A question is asked at theTime or at a time that rules name.
const (
	ended   = resources.Time(1)
	theTime = resources.Time(1_000_000)
	// Later is the end of assignments that end in the future.
	Later      = resources.Time(2_000_000)
	afterwards = resources.Time(3_000_000)
)

// standsForAny says whether a text is one of these names, or is composed of them.
func standsForAny(text string) bool {
	return slices.Contains([]string{
		AnyAccount, OtherAccount, AnyUser, AnyUUID, OtherUser, otherUUID, AnyProject, otherProject, AnyResource, otherResource, anyRole, anyService, anyScope,
		unknownResource, unknownVerb, aCollection, AnyResource + pathBelow,
	}, text)
}

// constants are the constants that the rules of both trees compare the input with, by path and text.
type constants map[string]map[string]ast.Value

// add adds constants that a path is compared with.
func (c constants) add(path string, values map[string]ast.Value) {
	if c[path] == nil {
		c[path] = map[string]ast.Value{}
	}
	maps.Copy(c[path], values)
}

// texts returns the given texts, then the text constants of the paths, without repeats.
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

// statuses returns the statuses of a column, ACTIVE first. "" stands for a status unknown to the gateway.
func statuses(path string) []string {
	out := []string{resources.StatusActive, resources.StatusInactive, ""} // of an assignment, whose column lists none
	for _, row := range question.Table() {
		if row.Path == path {
			out = append(out[:1], row.Values...)
		}
	}
	return slices.Compact(append(out[:1], slices.DeleteFunc(out[1:], func(s string) bool { return s == resources.StatusActive })...))
}

// times returns the given times, the constants of the paths, and the milliseconds just before and after each constant.
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

// State is a named condition of a question, such as user ACTIVE, as a report prints it.
type State struct{ Name, Value string }

// request is a value of the request part: a route of the catalogue and its action, in the old and the new tree. A tree
// without the route has nil there.
type request struct {
	routes [2]*resources.Route
	name   string
	action [2]resources.Action
	// aliases are the routes and actions merged into this request, itself among them.
	aliases []alias
}

// alias names a route and action with the same answers as the request that holds it.
type alias struct {
	route  string
	action [2]string
}

// person is a value of the person part: the caller, the user and the account.
type person struct {
	principal          resources.Principal
	subject            *resources.Subject     // nil if the gateway reads no facts
	agent              *resources.ActingAgent // nil for none
	account            string
	caller, credential string
	states             []State
	impossible         bool
}

// target is a value of the target part: the target of a question and the state of its project.
type target struct {
	target       resources.Target
	projectState string
	states       []State
}

// holding is a value of the holding part: the assignments of the user.
type holding struct {
	assignments []resources.HeldRole
	role, place string
	// pair has the role and place of each, if two are held.
	pair [][2]string
	// pattern is the permission of a custom role. The comparison holds such a role only against actions that the
	// pattern matches.
	pattern    string
	system     []string // the ids of the system roles among them
	states     []State
	impossible bool
}

// grantCase is a value of the grant part: the permissions to grant, their end, and the current time.
type grantCase struct {
	permissions []string
	until, now  resources.Time
	states      []State
	impossible  bool
}
