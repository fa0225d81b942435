package load_test

import (
	"slices"
	"testing"
	"time"
)

// TestMedianHasItsInterval: the ranks are those of the tables of the sign test.
func TestMedianHasItsInterval(t *testing.T) {
	for n, want := range map[int]interval{
		1: {1, 1, 1, false}, 5: {3, 1, 5, false}, 6: {3.5, 1, 6, true}, 9: {5, 2, 8, true},
		15: {8, 4, 12, true}, 16: {8.5, 4, 13, true}, 21: {11, 6, 16, true},
	} {
		var values []float64
		for i := range n {
			values = append(values, float64(i+1))
		}
		slices.Reverse(values)
		if got := medianOf(values); got != want {
			t.Errorf("%d values: %v, want %v", n, got, want)
		}
	}
	if got := medianOf(nil); got != (interval{}) {
		t.Error(got)
	}
}

func TestQuantile(t *testing.T) {
	var sorted []time.Duration
	for i := range 100 {
		sorted = append(sorted, time.Duration(i+1))
	}
	if got := []time.Duration{quantile(sorted, 0.5), quantile(sorted, 0.99), quantile(nil, 0.5)}; !slices.Equal(got, []time.Duration{51, 100, 0}) {
		t.Error(got)
	}
}

// TestEveryQuestionIsDistinct: no two requests of one round are equal, half of the users ask
// for themselves, and one in ten is denied.
func TestEveryQuestionIsDistinct(t *testing.T) {
	w := &world{account: "a", users: 20, assignments: 3, roles: loadRoles(10)}
	w.tokens.service = "s"
	for range w.users {
		w.tokens.users = append(w.tokens.users, "u")
	}
	q := newQuestions(w, everybody(w), w.request)
	seen, denied, own := map[string]bool{}, 0, 0
	for i := range q.total() {
		request, want := q.next(nil)
		if seen[string(request)] {
			t.Fatalf("question %d was asked before: %s", i, request)
		}
		seen[string(request)] = true
		if !want {
			denied++
		}
		if q.last.own {
			own++
		}
	}
	if n := q.total(); n != 2000 || denied != n/10 || own != n/2 {
		t.Errorf("%d questions, %d denied, %d of users for themselves", n, denied, own)
	}
}
