package compare

import (
	"maps"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// routeKey identifies a route by its calls and the place named in its question. The comparison matches routes of both
// trees by this key.
func routeKey(route *resources.Route) string {
	scope, _, _ := strings.Cut(route.Action, ":")
	parts := []string{route.Name, route.Method, strings.ToLower(route.Host), route.Path, route.Place.Account, route.Place.Project, route.MCP.Method, route.MCP.Name, scope}
	if route.Upstream == "authorize" {
		parts = append(parts, route.Upstream)
	}
	return strings.Join(parts, "\n")
}

// inheritedRoutes returns requests for calls whose old route was removed or moved. Each compares the old route with a
// route of the new tree that takes such calls.
func inheritedRoutes(old, next []resources.Route) (out []request) {
	existed, stays := map[string]bool{}, map[string]bool{}
	for i := range old {
		existed[routeKey(&old[i])] = true
	}
	for i := range next {
		stays[routeKey(&next[i])] = true
	}
	for i := range old {
		gone := &old[i]
		if stays[routeKey(gone)] {
			continue
		}
		for n := range next {
			heir := &next[n]
			if meets, before := gone.Overlap(heir); !meets || before && existed[routeKey(heir)] {
				continue // in the old tree, a more specific route took these calls
			}
			r := request{routes: [2]*resources.Route{gone, heir}, name: gone.Name + " -> " + heir.Name}
			r.action[0], _ = resources.ParseAction(gone.Action)
			r.action[1], _ = resources.ParseAction(heir.Action)
			out = append(out, r)
		}
	}
	return out
}

func isPublic(route *resources.Route) bool { return slices.Contains(route.Access, "public") }

// publicIn returns the only tree with a public route, -1 for both and for neither.
func (a *request) publicIn() int {
	switch old, next := a.routes[0], a.routes[1]; {
	case old == nil || next == nil || isPublic(old) == isPublic(next):
		return -1
	case isPublic(old):
		return 0
	}
	return 1
}

// publicGaps returns a gap for each route with public calls in one tree only, if that tree denies some of them. The gateway
// asks this tree about nobody, and the other one about the caller. The comparison asks both the same.
func (t *table) publicGaps() (gaps []Gap) {
	for _, i := range slices.Sorted(maps.Keys(t.closed)) {
		for _, as := range t.requests[i].aliases {
			gaps = append(gaps, Gap{
				At: "routes/data.json:1", Reads: "the route " + as.route, LeftOut: "who may call it: it is public in one tree only, and denied to some there",
			})
		}
	}
	return gaps
}
