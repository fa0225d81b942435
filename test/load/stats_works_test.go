package load_test

import (
	"slices"
	"testing"
)

// TestMedianHasItsInterval guarantees the intervals of the tables of the sign test. For 16 values two intervals have
// the same confidence: it is the lower one. For the run's 15 pairs there is one.
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
		if got := medianOf(values); got != want || values[0] != float64(n) { // medianOf must not sort its argument
			t.Errorf("%d values: %v, want %v; the first is %v", n, got, want, values[0])
		}
	}
	if got := medianOf(nil); got != (interval{}) {
		t.Error(got)
	}
}

// TestTrafficIsWhatItsTitleSays guarantees the share of new values in each kind of traffic, and 5 % denied questions.
func TestTrafficIsWhatItsTitleSays(t *testing.T) {
	w := &world{account: "a", users: *knownUsers + reserved + 10000, assignments: assigned, roles: loadRoles(fewRoles)}
	w.tokens.users = make([]string, *knownUsers)
	const n = 10000
	for title, kind := range map[string]struct {
		start func(*world) stream
		// part returns the part of a question that is new in this share of the questions.
		part  func(question) any
		share float64
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
		if got := float64(len(seen)) / n; got < kind.share-0.02 || got > kind.share+0.02 {
			t.Errorf("%s: %.3f is new, want %.2f", title, got, kind.share)
		}
		if got := float64(denied) / n; got < 0.04 || got > 0.06 {
			t.Errorf("%s: %.3f is denied, want 0.05", title, got)
		}
	}
}
