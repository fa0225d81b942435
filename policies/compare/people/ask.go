package people

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
)

// ask is what is asked at every stand: about an action, a route, or a grant.
type ask struct {
	// Change is what a report says of it.
	Change
	// soon says that a grant ends before every running assignment. Other grants end never, or after every assignment with an end.
	soon    bool
	routes  [2]*resources.Route // of both trees; nil where a tree has none
	actions [2]resources.Action
	// token, key and service are the callers: the user, an API key of theirs, a service about them.
	token, key, service bool
	targets             map[resources.Target]bool
}

// asks are those of the rows in which access changes. If the rows are not exhaustive, they are all actions and routes too.
type asks struct {
	sets    [2]*engine.Set
	byKey   map[string]*ask
	omitted map[string]bool // what is not asked
}

// newAsks returns what is to be asked.
func newAsks(sets [2]*engine.Set, rows []compare.Row, gaps []compare.Gap) *asks {
	all := &asks{sets: sets, byKey: map[string]*ask{}, omitted: map[string]bool{}}
	if len(gaps) > 0 {
		rows = slices.Concat(rows, all.everything())
	}
	for i := range rows {
		all.add(&rows[i])
	}
	for _, gap := range gaps {
		all.omitted[gap.At+" reads "+gap.Reads+": "+gap.LeftOut+", but for those that people have"] = true
	}
	return all
}

// sorted returns them in an order that is always the same.
func (all *asks) sorted() (out []*ask) {
	for _, key := range slices.Sorted(maps.Keys(all.byKey)) {
		out = append(out, all.byKey[key])
	}
	return out
}

// add adds the questions of a row, if they concern users: a user asks, or a service asks for a decision about a user. It skips
// all other rows.
func (all *asks) add(r *compare.Row) {
	caller := &r.Asked.Principal
	service := caller.Kind == resources.PrincipalService && r.Entry == "decision"
	if r.Caller != "self" && !service {
		return
	}
	a := all.named(r)
	a.service = a.service || service
	a.token = a.token || !service && caller.Credential == resources.CredentialToken
	a.key = a.key || !service && caller.Credential == resources.CredentialKey
	for _, target := range r.Asked.Targets {
		a.targets[target] = true
		if target.ProjectID != "" && target.ProjectID != compare.AnyProject {
			all.omitted["the project "+target.ProjectID+" of a rule, at which only holders of a role were asked about"] = true
		}
	}
}

// named returns the ask of a row, without its callers and targets.
func (all *asks) named(r *compare.Row) *ask {
	key := r.Entry + "\n" + r.Route
	if r.Entry == "decision" || r.Route == resources.RouteNamed {
		key += "\n" + r.Action
	}
	a := &ask{Change: Change{Entry: r.Entry, Route: r.Route, Action: r.Action}, targets: map[resources.Target]bool{}}
	if grant := r.Asked.Grant; grant != nil {
		a.Grants, a.soon = grant.Permissions, grant.Until != 0 && grant.Until <= compare.Later
		key += fmt.Sprint(a.soon, a.Grants)
	}
	if same := all.byKey[key]; same != nil {
		return same
	}
	parsed, _ := resources.ParseAction(r.Action) // a route's may be two, one in each tree
	switch {
	case r.Entry == "grantable":
	case r.Entry == "decision":
		a.pair(all.sets, "authorization.check")
		a.actions = [2]resources.Action{parsed, parsed}
	case r.Route == resources.RouteNamed:
		row := &resources.Route{Name: r.Route, Path: "/{rest+}", Upstream: resources.UpstreamExternal}
		a.actions, a.routes = [2]resources.Action{parsed, parsed}, [2]*resources.Route{row, row}
	default:
		a.pair(all.sets, r.Route)
	}
	all.byKey[key] = a
	return a
}

// pair finds the rows of a route in both trees. `old -> new` names calls of an old row that a new one takes.
func (a *ask) pair(sets [2]*engine.Set, route string) {
	names := strings.Split(route, " -> ")
	find := func(side int, matches func(*resources.Route) bool) {
		for _, row := range sets[side].Routes() {
			if a.routes[side] == nil && matches(&row) {
				a.routes[side] = &row
				a.actions[side], _ = resources.ParseAction(row.Action) // "" is none
			}
		}
	}
	for side := range sets {
		find(side, func(r *resources.Route) bool { return r.Name == names[side%len(names)] })
	}
	for side := range sets {
		if other := a.routes[1-side]; other != nil { // it may have another name in this tree
			find(side, func(r *resources.Route) bool {
				return r.Method == other.Method && r.Path == other.Path && strings.EqualFold(r.Host, other.Host)
			})
		}
	}
}

// everything returns rows about all listed actions and all routes: any of them may change if a comparison is not exhaustive.
func (all *asks) everything() (rows []compare.Row) {
	callers := []resources.Principal{
		{Kind: resources.PrincipalUser, Credential: resources.CredentialToken},
		{Kind: resources.PrincipalUser, Credential: resources.CredentialKey},
		{Kind: resources.PrincipalService},
	}
	for _, set := range all.sets {
		for _, caller := range callers {
			for _, listed := range set.Actions() {
				rows = append(rows, compare.Row{Entry: "decision", Action: listed.ID, Caller: "self", Asked: compare.Asked{
					Principal: caller, Targets: append(targets("{account}/{rest+}"), targets("{account}/{projectId}/{rest+}")...),
				}})
			}
			for _, row := range set.Routes() {
				if !slices.Contains(row.Access, "public") && caller.Kind == resources.PrincipalUser {
					rows = append(rows, compare.Row{Entry: "access", Route: row.Name, Action: row.Action, Caller: "self", Asked: compare.Asked{
						Principal: caller, Targets: targets(row.Path),
					}})
				}
			}
		}
	}
	return rows
}

// targets returns what a path can name.
func targets(path string) []resources.Target {
	var t resources.Target
	if strings.Contains(path, "{account") {
		t.AccountID = compare.AnyAccount
	}
	if strings.Contains(path, "{projectId") {
		t.ProjectID = compare.AnyProject
	}
	out := []resources.Target{t}
	if strings.Contains(path, "{userId}") || strings.Contains(path, "{user_id}") {
		out[0].UserID, t.UserID = compare.AnyUser, compare.OtherUser
		out = append(out, t)
	}
	if strings.Contains(path, "+}") {
		for _, t := range out {
			t.Resource, t.Rest = compare.AnyResource, compare.AnyResource
			out = append(out, t)
		}
	}
	return out
}

// ordered returns the targets, those without a path first.
func (a *ask) ordered() []resources.Target {
	return slices.SortedFunc(maps.Keys(a.targets), func(a, b resources.Target) int {
		return cmp.Or(cmp.Compare(a.Rest, b.Rest), cmp.Compare(a.ProjectID, b.ProjectID), cmp.Compare(a.AccountID, b.AccountID), cmp.Compare(a.UserID, b.UserID))
	})
}
