package compare

import (
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// placeOf names the calls that a row is for, and of what they are asked: a row of another place is another row.
func routeKey(route *resources.Route) string {
	scope, _, _ := strings.Cut(route.Action, ":")
	parts := []string{route.Name, route.Method, strings.ToLower(route.Host), route.Path, route.Place.Account, route.Place.Project, scope}
	if route.Upstream == "authorize" {
		parts = append(parts, route.Upstream)
	}
	return strings.Join(parts, "\n")
}

// inherited returns the rows that take calls of rows which the new tree has no more, or has elsewhere: each is asked about
// as the old row was, and as the one that has its calls now.
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
				continue // a better row had its calls already
			}
			r := request{old: gone, next: heir, name: gone.Name + " -> " + heir.Name}
			r.action[0], _ = resources.ParseAction(gone.Action)
			r.action[1], _ = resources.ParseAction(heir.Action)
			out = append(out, r)
		}
	}
	return out
}
