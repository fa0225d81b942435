package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/test/must"
)

// adminsGrant is a grant of one who holds everything.
func adminsGrant(permissions ...string) resources.Question {
	q := policytest.Question(policytest.AdminSubject(), "")
	return policytest.Grant(q, permissions...)
}

// TestInsidePassesNoGate guarantees that a question inside a transaction does not wait at the gate. The holder of the
// gate may wait for that transaction.
func TestInsidePassesNoGate(t *testing.T) {
	full := gate.New(1, 0)
	e := newEngine(t, policytest.Copy(t, policies.Tree()), engine.Options{Gate: full})
	must.Do(t, full.Enter(t.Context(), ""))
	defer full.Leave()
	q := policytest.Question(policytest.AdminSubject(), "account:user:read")
	if d, err := e.Decide(t.Context(), q); !errors.Is(err, gate.ErrFull) || d.Allowed {
		t.Errorf("outside: %+v, %v", d, err)
	}
	if d, err := e.Inside().Decide(t.Context(), q); err != nil || !d.Allowed {
		t.Errorf("inside: %+v, %v", d, err)
	}
	if d, err := e.Inside().Grantable(t.Context(), adminsGrant("account:*:*")); err != nil || !d.Allowed {
		t.Errorf("grant: %+v, %v", d, err)
	}
}

// TestAGrantHasTheTimeOfItsContext guarantees that a large grant may take longer than one decision. The deadline of
// its context still ends it.
func TestAGrantHasTheTimeOfItsContext(t *testing.T) {
	e := newEngine(t, policytest.Copy(t, policies.Tree()), engine.Options{Deadline: time.Nanosecond})
	q := policytest.Question(policytest.AdminSubject(), "account:user:read")
	d, err := e.Inside().Decide(t.Context(), q)
	unavailable(t, d, err)
	if d, err := e.Inside().Grantable(t.Context(), adminsGrant("account:*:*")); err != nil || !d.Allowed {
		t.Errorf("got %+v, %v", d, err)
	}
	over, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	d, err = e.Inside().Grantable(over, adminsGrant("account:*:*"))
	unavailable(t, d, err)
}
