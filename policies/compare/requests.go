package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
)

// requests returns the values of the request part at an entry point: all actions and, at access, all routes.
func (c *comparison) requests(entry string) (out []request) {
	if entry == engine.EntryGrantable {
		return []request{{}}
	}
	name, routes := "", [2]*resources.Route{decisionRoute(c.sets[0]), decisionRoute(c.sets[1])}
	if entry == engine.EntryAccess {
		name = resources.RouteNamed
		external := &resources.Route{Name: name, Path: "/{rest+}", Upstream: resources.UpstreamExternal}
		routes = [2]*resources.Route{external, external}
	}
	for _, action := range c.actions() {
		out = append(out, request{name: name, action: [2]resources.Action{action, action}, routes: routes})
	}
	if entry == engine.EntryDecision {
		return out
	}
	byRoute := map[string]*request{}
	for side, set := range c.sets {
		for _, route := range set.Routes() {
			r := byRoute[routeKey(&route)]
			if r == nil {
				r = &request{name: route.Name}
				byRoute[routeKey(&route)] = r
			}
			r.action[side], _ = resources.ParseAction(route.Action)
			r.routes[side] = &route
		}
	}
	for _, key := range slices.Sorted(maps.Keys(byRoute)) {
		out = append(out, *byRoute[key])
	}
	return append(out, inheritedRoutes(c.sets[0].Routes(), c.sets[1].Routes())...)
}

// decisionRoute returns the fields that rules read of the route authorization.check.
func decisionRoute(set *engine.Set) *resources.Route {
	for _, route := range set.Routes() {
		if route.Name == "authorization.check" {
			return &resources.Route{Name: route.Name, Action: route.Action, Access: route.Access, Effect: route.Effect}
		}
	}
	return &resources.Route{}
}

// actions returns the actions that either tree lists, compares with or grants differently, and unlisted ones of each
// scope and verb.
func (c *comparison) actions() (out []resources.Action) {
	ids := append(c.consts.texts(nil, "action.id", "action.patterns"), c.regranted()...)
	for _, set := range c.sets {
		for _, listed := range set.Actions() {
			ids = append(ids, listed.ID)
		}
	}
	named, verbs := c.consts.texts([]string{unknownResource}, "action.resource"), c.consts.texts([]string{unknownVerb}, "action.verb")
	granted, grantedVerbs := c.grantedWords()
	for _, scope := range []string{resources.ScopeAccount, resources.ScopeProject, resources.ScopeResource} {
		for _, words := range [][2][]string{{named, verbs}, {named[1:], grantedVerbs}, {granted, verbs[1:]}} {
			for _, resource := range words[0] {
				for _, verb := range words[1] {
					ids = append(ids, scope+":"+resource+":"+verb)
				}
			}
		}
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		if action, err := resources.ParseAction(id); err == nil {
			out = append(out, action)
		}
	}
	return out
}

// grantedWords returns the resources and verbs in the permissions of system roles, without wildcards.
func (c *comparison) grantedWords() (named, verbs []string) {
	for _, roles := range c.roles {
		for _, role := range roles {
			for _, permission := range role.Permissions {
				if p, err := resources.ParsePattern(permission); err == nil {
					named, verbs = append(named, p.Resource), append(verbs, p.Verb)
				}
			}
		}
	}
	for _, words := range []*[]string{&named, &verbs} {
		slices.Sort(*words)
		*words = slices.DeleteFunc(slices.Compact(*words), func(word string) bool { return word == "*" })
	}
	return named, verbs
}

// regranted returns actions that a system role grants in one tree only, or with another scope. Neither tree need list
// them. An unknown name replaces a wildcard.
func (c *comparison) regranted() (ids []string) {
	for side, roles := range c.roles {
		for id, role := range roles {
			other := c.roles[1-side][id]
			for _, permission := range role.Permissions {
				if other != nil && other.Scope == role.Scope {
					if _, held := slices.BinarySearch(other.Permissions, permission); held {
						continue
					}
				}
				ids = append(ids, actionsOf(permission)...)
			}
		}
	}
	return ids
}

// actionsOf returns actions that a pattern matches, one per scope.
func actionsOf(pattern string) (ids []string) {
	p, err := resources.ParsePattern(pattern)
	if err != nil {
		return nil
	}
	if p.Resource == "*" {
		p.Resource = unknownResource
	}
	if p.Verb == "*" {
		p.Verb = unknownVerb
	}
	scopes := []string{p.Scope}
	if p.Scope == "*" {
		scopes = []string{resources.ScopeAccount, resources.ScopeProject, resources.ScopeResource}
	}
	for _, scope := range scopes {
		ids = append(ids, scope+":"+p.Resource+":"+p.Verb)
	}
	return ids
}

// mergeRequests merges requests that differ only in a name copied into the reason. Such actions have the same scope and
// are granted by the same roles under the same patterns. Such routes also have the same access, effect and path
// variables. A route with another action in each tree stays apart.
func (c *comparison) mergeRequests(all []request) (out []request) {
	byKind := map[string]int{}
	for _, a := range all {
		name := alias{a.name, [2]string{a.action[0].ID, a.action[1].ID}}
		key := c.actionKind(a.action[0]) + " / " + c.actionKind(a.action[1])
		for _, row := range a.routes {
			key += " / " + c.routeKind(row)
		}
		if a.action[0].ID != a.action[1].ID { // a role can grant one of the two actions alone
			key += " / " + name.action[0] + " / " + name.action[1]
		}
		i, ok := byKind[key]
		if !ok {
			i = len(out)
			byKind[key] = i
			out = append(out, a)
		}
		out[i].aliases = append(out[i].aliases, name)
	}
	return out
}

// actionKind returns everything that rules can read of an action or a pattern, except its name.
func (c *comparison) actionKind(a resources.Action) string {
	if a.ID == "" || c.namesAction(a) {
		return a.ID
	}
	text := a.Scope
	if a.Resource == "*" {
		text += " *"
	}
	if a.Verb == "*" || slices.Contains(c.consts.texts(nil, "action.verb", "grant.permissions"), a.Verb) {
		text += " " + a.Verb
	}
	for side := range c.sets {
		if c.sets[side].Strict() {
			text += fmt.Sprint(" listed ", slices.ContainsFunc(c.sets[side].Actions(), func(l resources.ListedAction) bool { return l.ID == a.ID }))
		}
		for _, pattern := range a.Patterns() {
			text += " " + c.granting[side][pattern]
		}
	}
	return text
}

// namesAction says whether rules may distinguish the action by its name.
func (c *comparison) namesAction(a resources.Action) bool {
	if !c.opaque || slices.ContainsFunc(c.gaps, func(g Gap) bool { return strings.HasPrefix(g.Reads, "action") }) {
		return true
	}
	patterns, ids := a.Patterns(), c.consts.texts(nil, "action.id", "action.patterns", "grant.permissions")
	return slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(patterns[:], id) }) ||
		slices.Contains(c.consts.texts(nil, "action.resource"), a.Resource)
}

// routeKind returns everything that rules can read of a route, except its name and the name of its action.
func (c *comparison) routeKind(route *resources.Route) string {
	if route == nil {
		return "none"
	}
	name := ""
	if c.consts["route.name"] != nil {
		name = route.Name
	}
	access := slices.Sorted(slices.Values(route.Access))
	return fmt.Sprint(name, " ", route.Effect, " ", access, namesOf(route))
}
