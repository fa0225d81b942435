package doors_test

import (
	"math/rand/v2"
	"testing"
	"time"
)

// corpus is how many questions are asked, and how many of them at each change.
const corpus, short = 20_000, 2_000

// seed makes the same world and the same questions each time.
const seed = 17

// TestEveryDoorAnswersAlike: the same questions have the same answers at every door, for every kind of
// caller, place, role and state, and for what is no question. A door that is broken is noticed.
func TestEveryDoorAnswersAlike(t *testing.T) {
	random := rand.New(rand.NewPCG(seed, seed))
	w := newWorld(t, random)
	n := corpus
	if testing.Short() {
		n = short
	}
	questions := w.questions(random, n)
	var first []answer
	for i, d := range doors() {
		began := time.Now()
		answers := d.ask(t, w, questions)
		took(t, d.name, began, n)
		if i == 0 {
			first = answers
			varied(t, answers)
			continue
		}
		if different := differences(t, d.name, questions, first, answers); different > 0 {
			t.Errorf("%s: %d of %d answers differ from E3's", d.name, different, n)
		}
	}
	few := questions[:min(n, 500)]
	for name, d := range broken() {
		answers := d(t, w, few)
		different := 0
		for i := range few {
			if answers[i] != first[i] {
				different++
			}
		}
		if different == 0 {
			t.Errorf("a door that %s is not noticed", name)
		}
	}
}

// differences counts the answers that differ, and shows some.
func differences(t *testing.T, name string, questions []question, want, got []answer) (n int) {
	for i := range questions {
		if got[i] == want[i] {
			continue
		}
		if n++; n <= 10 {
			t.Errorf("%s: %s: %+v, E3 %+v", name, questions[i], got[i], want[i])
		}
	}
	return n
}

// varied wants every kind of answer in the corpus, in number.
func varied(t *testing.T, answers []answer) {
	t.Helper()
	kinds, reasons := map[answer]int{}, map[string]bool{}
	for _, a := range answers {
		reasons[a.reason] = true
		a.reason = ""
		kinds[a]++
	}
	for _, kind := range []answer{{200, true, ""}, {200, false, ""}, {400, false, ""}, {401, false, ""}, {403, false, ""}} {
		if kinds[kind] < len(answers)/50 {
			t.Errorf("%d answers of %d are %+v", kinds[kind], len(answers), kind)
		}
	}
	if len(reasons) < 20 || len(kinds) != 5 {
		t.Errorf("%d reasons, kinds %v", len(reasons), kinds)
	}
	t.Logf("%v, %d reasons", kinds, len(reasons))
}

// broken are doors with a fault that a door might have.
func broken() map[string]func(t *testing.T, w *world, questions []question) []answer {
	with := func(change func(q *question)) func(t *testing.T, w *world, questions []question) []answer {
		return each(func(t *testing.T, w *world, q question) answer {
			change(&q)
			return askEvaluation(t, w, q)
		})
	}
	return map[string]func(t *testing.T, w *world, questions []question) []answer{
		"asks without the place":     with(func(q *question) { q.path = "x" }),
		"asks as the caller's self":  with(func(q *question) { q.subject = absentUser }),
		"asks another action":        with(func(q *question) { q.action = "project:instance:read" }),
		"asks about another account": with(func(q *question) { q.account = absentAccount }),
		"asks as a service": func(t *testing.T, w *world, questions []question) []answer {
			return each(func(t *testing.T, w *world, q question) answer {
				q.caller = w.callers[0]
				return askEvaluation(t, w, q)
			})(t, w, questions)
		},
		"decodes the path": with(func(q *question) {
			if len(q.path) > 0 && q.path[len(q.path)-1] == '/' {
				q.path = q.path[:len(q.path)-1]
			}
		}),
	}
}
