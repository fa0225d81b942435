package engine_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
)

// TestPinnedTreeStays guarantees that one tree answers all questions of a Pin, also if a reload happens between them.
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

// TestTheRightOfServicesIsByNoUser guarantees that a batch may judge the embedded tree's right of services once for
// all users. It judges per user if the tree reads the user, or reads anything outside of the question.
func TestTheRightOfServicesIsByNoUser(t *testing.T) {
	embedded := policytest.Copy(t, policies.Tree())
	const file, rule = "authz/access.rego", `if service_scope
`
	text := string(embedded[file].Data)
	if !strings.Contains(text, rule) {
		t.Fatal("the rule is another one")
	}
	for name, c := range map[string]struct {
		tree policytest.Tree
		want map[string]bool
	}{
		"the embedded tree": {embedded, map[string]bool{"user": true, "service": false, "none": false, "other": false}},
		"by user": {
			embedded.With(file, strings.Replace(text, rule, "if {\n\tservice_scope\n\tinput.target.user != \"user-x-v1\"\n}\n", 1)),
			map[string]bool{"user": true, "service": true},
		},
		"by the clock": {
			embedded.With(file, strings.Replace(text, rule, "if {\n\tservice_scope\n\ttime.now_ns() > 0\n}\n", 1)),
			map[string]bool{"user": true, "service": true, "none": true},
		},
	} {
		pinned := newEngine(t, c.tree, engine.Options{}).Pin()
		for kind, want := range c.want {
			if got := pinned.AccessByUser(kind); got != want {
				t.Errorf("%s, %s: %t", name, kind, got)
			}
		}
	}
}

// TestWhatQuestionsShareIsReadOnce guarantees that a batch parses a large context, and makes its key, once for all its
// items.
func TestWhatQuestionsShareIsReadOnce(t *testing.T) {
	w := watch(t, withApp(t, `decision := object.get(input.context, "open", false)`), nothing)
	q, pinned := appQuestion(`{}`), w.Pin()
	q.App.Context = []byte(`{"open": true, "more": [` + strings.Repeat(`{"a": "b"},`, 10_000) + `0]}`)
	decide := func() {
		if d, err := pinned.DecideApp(t.Context(), q); err != nil || !d.Allowed {
			t.Fatalf("%+v, %v", d, err)
		}
	}
	decide()
	if n := testing.AllocsPerRun(5, decide); n > 2000 {
		t.Errorf("%.0f allocations for another question with the same context", n)
	}
	q.App.Context = []byte(`{"open": false}`)
	if d, err := pinned.DecideApp(t.Context(), q); err != nil || d.Allowed {
		t.Errorf("another context: %+v, %v", d, err)
	}
}
