package engine_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/policytest"
)

// TestPinnedTreeStays guarantees that questions that are answered together are answered by one tree,
// whatever comes into force meanwhile.
func TestPinnedTreeStays(t *testing.T) {
	w := watch(t, policytest.Small(t), nothing)
	pinned, before := w.Pin(), w.Revision()
	write(t, filepath.Join(w.dir, "authz", "authz.rego"), smallWith("edited"))
	next(t, w.reloaded)
	d, err := pinned.Decide(t.Context(), policytest.Question(policytest.AdminSubject(), "account:user:read"))
	if err != nil || d.Reason != "granted" || d.PolicyRevision != before || pinned.Revision() != before {
		t.Errorf("%+v, %v by %s", d, err, pinned.Revision())
	}
	access, err := pinned.Access(t.Context(), policytest.Question(policytest.AdminSubject(), "account:user:read"))
	if err != nil || access.PolicyRevision != before {
		t.Errorf("%+v, %v", access, err)
	}
	if w.Pin().Revision() == before || w.reason(t) != "edited" {
		t.Error("the new tree is not in force")
	}
}

// TestWhatQuestionsShareIsReadOnce guarantees that a batch whose items have a large context in common does not read it,
// nor make a key of it, for each of them.
func TestWhatQuestionsShareIsReadOnce(t *testing.T) {
	w := watch(t, withApp(t, `decision := object.get(input.context, "open", false)`), nothing)
	q, pinned := about(`{}`), w.Pin()
	q.Context = []byte(`{"open": true, "more": [` + strings.Repeat(`{"a": "b"},`, 10_000) + `0]}`)
	decide := func() {
		if d, err := pinned.DecideApp(t.Context(), q); err != nil || !d.Allowed {
			t.Fatalf("%+v, %v", d, err)
		}
	}
	decide()
	if n := testing.AllocsPerRun(5, decide); n > 2000 {
		t.Errorf("%.0f allocations for another question with the same context", n)
	}
	q.Context = []byte(`{"open": false}`)
	if d, err := pinned.DecideApp(t.Context(), q); err != nil || d.Allowed {
		t.Errorf("another context: %+v, %v", d, err)
	}
}
