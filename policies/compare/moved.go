package compare

import (
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// placeOf names the calls that a row is for, and of what they are asked: a row of another place is another row.
func placeOf(row *resources.Route) string {
	scope, _, _ := strings.Cut(row.Action, ":")
	parts := []string{row.Name, row.Method, strings.ToLower(row.Host), row.Path, row.Place.Account, row.Place.Project, scope}
	if row.Upstream == "authorize" {
		parts = append(parts, row.Upstream)
	}
	return strings.Join(parts, "\n")
}

// inherited returns the rows that take calls of rows which the new tree has no more, or has elsewhere: each is asked about
// as the old row was, and as the one that has its calls now.
func inherited(old, fresh []resources.Route) (out []asking) {
	known, stays := map[string]bool{}, map[string]bool{}
	for i := range old {
		known[placeOf(&old[i])] = true
	}
	for i := range fresh {
		stays[placeOf(&fresh[i])] = true
	}
	for i := range old {
		gone := &old[i]
		if stays[placeOf(gone)] {
			continue
		}
		for n := range fresh {
			heir := &fresh[n]
			if meets, before := gone.Overlap(heir); !meets || before && known[placeOf(heir)] {
				continue // a better row had its calls already
			}
			of := asking{old: gone, fresh: heir, name: gone.Name + " -> " + heir.Name}
			of.action[0], _ = resources.ParseAction(gone.Action)
			of.action[1], _ = resources.ParseAction(heir.Action)
			out = append(out, of)
		}
	}
	return out
}
