package doors_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// corpus is how many questions are asked, fewer how many on MongoDB.
const corpus, fewer = 20_000, 1_000

// many is how many questions this run asks.
func many() int {
	if harness.OnMongoDB() {
		return fewer
	}
	return corpus
}

// seed makes the same world and the same questions each time.
const seed = 17

// TestEveryDoorAnswersAlike guarantees the same answers at every door to the same questions. They cover every kind of
// caller, place, role and state, and malformed questions. A broken door is noticed.
func TestEveryDoorAnswersAlike(t *testing.T) {
	random := rand.New(rand.NewPCG(seed, seed))
	w := newWorld(t, random)
	questions := w.questions(random, many())
	e3 := doors()[0].ask(t, w, questions)
	varied(t, e3)
	calls := w.ofCalls(t, questions, e3)
	for _, d := range doors()[1:] {
		some, want := d.chosen(questions, e3, calls)
		began := time.Now()
		got := d.ask(t, w, some)
		took(t, d.name, began, len(some))
		if different := differences(d.name, some, want, got); len(different) > 0 {
			t.Errorf("%d of %d answers differ from E3's: %s", len(different), len(some), strings.Join(different[:min(len(different), 10)], "\n"))
		}
	}
	for _, d := range doors()[1:] {
		d.notices(t, w, questions, e3, calls)
	}
}

// chosen returns the questions for the door and their answers: E3's, or those of calls if the door judges calls.
func (d door) chosen(questions []question, e3, calls []answer) (some []question, want []answer) {
	if d.call {
		e3 = calls
	}
	if d.takes == nil {
		return questions, e3
	}
	for i, q := range questions {
		if d.slow && len(some) == sample() {
			break
		}
		if d.takes(q) {
			some, want = append(some, q), append(want, d.says(q, e3[i]))
		}
	}
	return some, want
}

// differences are the answers that differ.
func differences(name string, questions []question, want, got []answer) (all []string) {
	for i := range questions {
		if got[i] != want[i] {
			all = append(all, fmt.Sprintf("%s: %s: %+v, E3 %+v", name, questions[i], got[i], want[i]))
		}
	}
	return all
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

// few is how many questions a broken door is asked.
const few = 40

// notices wants a difference wherever the door has a fault.
func (d door) notices(t *testing.T, w *doorsWorld, questions []question, e3, calls []answer) {
	t.Helper()
	all, wanted := d.chosen(questions, e3, calls)
	for fault, change := range d.faults() {
		var broken []question
		var want []answer
		for i, q := range all {
			change(w, &q)
			if decided := wanted[i].status == 200 || wanted[i].status == 403; q != all[i] && decided && len(broken) < few {
				broken, want = append(broken, q), append(want, wanted[i])
			}
		}
		if got := d.ask(t, w, broken); len(broken) == 0 || slices.Equal(got, want) {
			t.Errorf("%s that %s is not noticed in %d questions", d.name, fault, len(broken))
		}
	}
}

// faults are those that a door might have: it asks another question than it was asked.
func (d door) faults() map[string]func(w *doorsWorld, q *question) {
	all := map[string]func(w *doorsWorld, q *question){
		"asks without the place": func(_ *doorsWorld, q *question) { q.path = "x" },
		"asks another action":    func(_ *doorsWorld, q *question) { q.action = "project:instance:read" },
		"forgets the caller":     func(w *doorsWorld, q *question) { q.caller = w.callers[brokenToken] },
		"adds to the path":       func(_ *doorsWorld, q *question) { q.path += "/" },
	}
	if !d.call {
		maps.Copy(all, map[string]func(w *doorsWorld, q *question){
			"asks as the caller's self":  func(_ *doorsWorld, q *question) { q.subject = absentUser },
			"asks about another account": func(_ *doorsWorld, q *question) { q.account = absentAccount },
		})
	}
	return all
}
