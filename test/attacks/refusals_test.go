package attacks_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// maxTold is how many faults a class tells; the first ones say enough.
const maxTold = 25

// refusals count the cases of a class and keep what went wrong.
type refusals struct {
	w *attacksWorld

	mu    sync.Mutex
	cases int
	names []string
}

// attack is one case, to be sent at any time beside others.
type attack struct {
	name, raw string
	// want are the statuses, nil if only leaks matter.
	want []int
	// closes says that the connection has to end with the answer.
	closes bool
}

// manyAtOnce is how many connections attack side by side: some wait for a time-out.
const manyAtOnce = 16

// all sends attacks side by side.
func (r *refusals) all(attacks []attack) {
	var group sync.WaitGroup
	next := make(chan attack)
	for range manyAtOnce {
		group.Go(func() {
			for a := range next {
				r.judge(a)
			}
		})
	}
	for _, a := range attacks {
		next <- a
	}
	close(next)
	group.Wait()
}

// fault notes that an attack was not refused as stated.
func (r *refusals) fault(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.names) < maxTold {
		r.names = append(r.names, fmt.Sprintf(format, args...))
	}
}

// refuse sends one attack, which must be answered with one of the statuses and an error body.
func (r *refusals) refuse(name, raw string, want ...int) answer {
	return r.judge(attack{name: name, raw: raw, want: want})
}

func (r *refusals) judge(c attack) answer {
	r.mu.Lock()
	r.cases++
	r.mu.Unlock()
	send := r.w.decided
	if slices.Contains(c.want, 503) {
		send = func(raw string) (answer, error) { return exchange(r.w.URL, raw) }
	}
	a, err := send(c.raw)
	if err != nil {
		r.fault("%s: no answer: %v", c.name, err)
		return a
	}
	if mark := r.w.marks.find(a.Body + fmt.Sprint(a.Header)); mark != "" {
		r.fault("%s: the answer shows %s: %.600s", c.name, mark, a.Body)
	}
	if c.want == nil {
		return a
	}
	if !slices.Contains(c.want, a.Status) {
		r.fault("%s: %d %.300s, want %v", c.name, a.Status, a.Body, c.want)
		return a
	}
	if c.closes && !a.Closed {
		r.fault("%s: the connection stays open after %d", c.name, a.Status)
	}
	if a.After != "" {
		r.fault("%s: after the answer came %.200q", c.name, a.After)
	}
	r.shape(c.name, a)
	return a
}

// shape holds an answer to what every refusal is.
func (r *refusals) shape(name string, a answer) {
	if a.Status >= 400 && !isErrorBody(a.Body) && (a.Status != 503 || !isUndecided(a.Body)) {
		r.fault("%s: %d without an error body: %.300s", name, a.Status, a.Body)
	}
	if a.Header.Get("X-Request-ID") == "" {
		r.fault("%s: an answer without X-Request-ID", name)
	}
	if (a.Status == 401) != (a.Header.Get("WWW-Authenticate") == "Bearer") {
		r.fault("%s: %d with WWW-Authenticate %q", name, a.Status, a.Header.Get("WWW-Authenticate"))
	}
	if mark := r.w.marks.find(a.Body + fmt.Sprint(a.Header)); mark != "" {
		r.fault("%s: the answer shows %s", name, mark)
	}
}

// isUndecided says whether a body is the answer of authorization.check where no decision could be made.
func isUndecided(body string) bool {
	for _, reason := range []string{"authorization state unavailable", "policy evaluation took too long", "policy evaluation took too much memory"} {
		if body == `{"allowed":false,"reason":"`+reason+`"}` {
			return true
		}
	}
	return false
}

// isErrorBody says whether a body has one of the three shapes of an error.
func isErrorBody(body string) bool {
	var e struct {
		Error   json.RawMessage
		Code    string
		Success *bool
	}
	if json.Unmarshal([]byte(body), &e) != nil {
		return false
	}
	var text string
	if json.Unmarshal(e.Error, &text) == nil { // the firewall's
		return text != "" && e.Code != ""
	}
	var inner struct{ Code, Message string }
	return json.Unmarshal(e.Error, &inner) == nil && inner.Code != "" && inner.Message != "" && (e.Success == nil || !*e.Success)
}

// unjudged runs cases that must be refused before any policy is asked, and change nothing.
func (r *refusals) unjudged(title string, cases func()) {
	r.unchanged(title, func() {
		before := r.w.evaluations()
		cases()
		switch after := r.w.evaluations(); {
		case before == 0: // the world was made by calls that policy has judged
			r.fault("%s: no metric counts how often policy was asked", title)
		case after != before:
			r.fault("%s: policy was asked %d times", title, after-before)
		}
	})
}

// unchanged runs cases that must not change anything readable.
func (r *refusals) unchanged(title string, cases func()) {
	before := r.w.state()
	cases()
	if after := r.w.state(); after != before {
		r.fault("%s: something changed: %s", title, difference(before, after))
	}
}

// difference is the first line in which two states differ.
func difference(before, after string) string {
	old, current := strings.Split(before, "\n"), strings.Split(after, "\n")
	for i, line := range current {
		if i >= len(old) || old[i] != line {
			return fmt.Sprintf("%.600s\nwas %.600s", line, old[min(i, len(old)-1)])
		}
	}
	return "it became shorter"
}
