package replay

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Text returns the groups of changed verdicts, what was not judged, and the sums, a line each.
func (r *Report) Text() string {
	var out strings.Builder
	for _, f := range r.Flips {
		word := "would be denied"
		if f.Allowed {
			word = "would be allowed"
		}
		fmt.Fprintf(&out, "%d %s: %s at %s, roles: %s\n", f.Count, word, f.Asked(), f.Place, cmp.Or(f.Role, "none"))
		for _, e := range f.Examples {
			fmt.Fprintf(&out, "  %s: %q, now %q\n", e.ID, e.Old, e.New)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(r.Failed)) {
		fmt.Fprintf(&out, "%d without a decision: %s\n", r.Failed[why], why)
	}
	for _, why := range slices.Sorted(maps.Keys(r.NotJudged)) {
		fmt.Fprintf(&out, "%d not judged: %s\n", r.NotJudged[why], why)
	}
	fmt.Fprintf(&out, "policy %s: %d judged, %d groups of other verdicts, %d with another reason, %.0f a second\n",
		r.New, r.Judged, len(r.Flips), r.Reasons, float64(r.Judged)/max(r.Took.Seconds(), 0.001))
	return out.String()
}
