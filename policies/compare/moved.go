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
			if meets, before := overlap(gone, heir); !meets || before && known[placeOf(heir)] {
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

// overlap says whether some call fits both rows, and whether the other one is better for it.
func overlap(row, other *resources.Route) (meets, better bool) {
	wild := func(a, b, every string) bool { return a == b || a == every || b == every }
	if !wild(row.Method, other.Method, resources.AnyMethod) || !wild(strings.ToLower(row.Host), strings.ToLower(other.Host), "") {
		return false, false
	}
	a, b := strings.Split(row.Path, "/"), strings.Split(other.Path, "/")
	decided := false
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) {
			return false, false
		}
		kind, others := segment(a[i]), segment(b[i])
		if kind == 0 && others == 0 && a[i] != b[i] {
			return false, false
		}
		if !decided && kind != others {
			decided, better = true, others < kind
		}
		if kind == 2 || others == 2 {
			break
		}
	}
	if !decided && row.Method != other.Method {
		decided, better = true, row.Method == resources.AnyMethod
	}
	return true, better || !decided && row.Host == "" && other.Host != ""
}

// segment returns 0 for a literal, 1 for a parameter and 2 for the rest of a path, the best first.
func segment(text string) int {
	switch {
	case strings.HasSuffix(text, "+}"):
		return 2
	case strings.HasPrefix(text, "{"):
		return 1
	}
	return 0
}
