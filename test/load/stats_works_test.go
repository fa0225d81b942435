package load_test

import (
	"slices"
	"testing"
)

// TestMedianHasItsInterval: the ranks are those of the tables of the sign test, for 16 the lower ones of two that are as
// sure; the run's 15 pairs have one.
func TestMedianHasItsInterval(t *testing.T) {
	for n, want := range map[int]interval{
		1: {1, 1, 1, false}, 5: {3, 1, 5, false}, 6: {3.5, 1, 6, true}, 9: {5, 2, 8, true},
		15: {8, 4, 12, true}, 16: {8.5, 4, 12, true}, 21: {11, 6, 16, true},
	} {
		var values []float64
		for i := range n {
			values = append(values, float64(i+1))
		}
		slices.Reverse(values)
		if got := medianOf(values); got != want || values[0] != float64(n) { // windows stay in their turns
			t.Errorf("%d values: %v, want %v; the first is %v", n, got, want, values[0])
		}
	}
	if got := medianOf(nil); got != (interval{}) {
		t.Error(got)
	}
}

// TestTrafficIsWhatItsTitleSays: what is new in a kind of traffic was not there before, and 5 % of
// every kind are denied.
func TestTrafficIsWhatItsTitleSays(t *testing.T) {
	w := &world{account: "a", users: *known + reserved + 10000, assignments: assigned, roles: loadRoles(fewRoles)}
	w.tokens.users = make([]string, *known)
	const n = 10000
	for title, kind := range map[string]struct {
		start func(*world) stream
		// part is what is new, in the share of questions that fresh says.
		part  func(question) any
		fresh float64
	}{
		"same":        {same, func(q question) any { return q }, float64(repeated) / n},
		"newResource": {newResource, func(q question) any { return q.resource }, 1},
		"newQuestion": {newQuestion, func(q question) any { return q }, 1},
		"newUser":     {newUser, func(q question) any { return q.user }, 1},
		"mix":         {mix, func(q question) any { return q.resource }, newInMix},
	} {
		next, seen, denied := kind.start(w), map[any]bool{}, 0
		for range n {
			q := next()
			seen[kind.part(q)] = true
			if !q.allowed {
				denied++
			}
		}
		if got := float64(len(seen)) / n; got < kind.fresh-0.02 || got > kind.fresh+0.02 {
			t.Errorf("%s: %.3f is new, want %.2f", title, got, kind.fresh)
		}
		if got := float64(denied) / n; got < 0.04 || got > 0.06 {
			t.Errorf("%s: %.3f is denied, want 0.05", title, got)
		}
	}
}
