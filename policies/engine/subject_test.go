package engine_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
)

// TestAFormGoesWithItsSubject guarantees that the engine keeps a subject's form as long as
// somebody holds the subject, and no longer.
func TestAFormGoesWithItsSubject(t *testing.T) {
	e := newEngine(t, policytest.Small(t), engine.Options{Verdicts: -1})
	held := policytest.AdminSubject()
	for range 100 {
		_, err := e.Decide(t.Context(), policytest.Question(policytest.AdminSubject(), "account:user:read"))
		must(t, err)
	}
	_, err := e.Decide(t.Context(), policytest.Question(held, "account:user:read"))
	must(t, err)
	for late := time.Now().Add(20 * time.Second); e.Forms() > 1; runtime.GC() {
		if time.Now().After(late) {
			t.Fatalf("%d forms are left", e.Forms())
		}
	}
	if runtime.KeepAlive(held); e.Forms() != 1 {
		t.Error("the form of a subject that is held is gone")
	}
}
