package engine_test

import (
	"path/filepath"
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
