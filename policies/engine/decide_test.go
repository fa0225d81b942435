package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"reflect"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

type route = resources.Route

// newEngine has time enough for a busy machine where a test isn't about time.
func newEngine(tb testing.TB, tree policytest.Tree, opts engine.Options) *engine.Engine {
	tb.Helper()
	if opts.Deadline == 0 {
		opts.Deadline = 10 * time.Second
	}
	return must.Get(engine.New(context.Background(), tree, compile, opts))(tb)
}

// compile is an engine.Loader of trees that need not prove themselves.
func compile(ctx context.Context, src *policies.Source) (*engine.Set, error) {
	set, _, err := proof.Compile(ctx, src)
	return set, err
}

// TestAGrantAllows guarantees that an answer carries the rule's reason and the revision.
func TestAGrantAllows(t *testing.T) {
	e := newEngine(t, policytest.Small(t), engine.Options{})
	d, err := e.Decide(t.Context(), policytest.Question(policytest.AdminSubject(), "account:user:read"))
	if want := (resources.Decision{Allowed: true, Reason: "granted", PolicyRevision: e.Revision()}); err != nil || d != want {
		t.Errorf("got %+v, %v", d, err)
	}
	d, err = e.Decide(t.Context(), policytest.Question(policytest.ActiveSubject(), "account:user:read"))
	if want := (resources.Decision{Reason: "no", PolicyRevision: e.Revision()}); err != nil || d != want {
		t.Errorf("without a role: got %+v, %v", d, err)
	}
}

// TestADecisionHasTheCodeOfItsReason guarantees that an evaluated and a cached decision carry the code. A tree without
// codes answers with an empty one.
func TestADecisionHasTheCodeOfItsReason(t *testing.T) {
	e := newEngine(t, policytest.Copy(t, policies.Tree()), engine.Options{})
	suspended := policytest.AdminSubject()
	suspended.AccountStatus = resources.StatusSuspended
	for range 2 {
		for code, s := range map[string]*resources.Subject{
			"role": policytest.AdminSubject(), "no_role": policytest.ActiveSubject(), "needs_active_account": suspended,
		} {
			if d, err := e.Decide(t.Context(), policytest.Question(s, "project:instance:read")); err != nil || d.Code != code || d.Allowed != (code == "role") {
				t.Errorf("%s: got %+v, %v", code, d, err)
			}
		}
	}
	e = newEngine(t, policytest.Small(t), engine.Options{})
	if d, err := e.Decide(t.Context(), policytest.Question(policytest.AdminSubject(), "account:user:read")); err != nil || !d.Allowed || d.Code != "" {
		t.Errorf("without codes: got %+v, %v", d, err)
	}
}

// TestWhatIsNoAnswerDenies guarantees that anything but a well-formed answer is an
// error of KindUnavailable with the zero decision, counted under its kind.
func TestWhatIsNoAnswerDenies(t *testing.T) {
	const nobody = "decision := {\"allow\": false, \"reason\": \"no\"} if not active\n\nactive if input.subject.status == \"ACTIVE\"\n\n"
	for name, c := range map[string]struct {
		rules string
		want  engine.Failure
	}{
		"undefined":               {nobody, engine.FailureUndefined},
		"a boolean":               {nobody + `decision := true if active`, engine.FailureIllTyped},
		"no reason":               {nobody + `decision := {"allow": true} if active`, engine.FailureIllTyped},
		"allow is a string":       {nobody + `decision := {"allow": "true", "reason": "x"} if active`, engine.FailureIllTyped},
		"allow is null":           {nobody + `decision := {"allow": null, "reason": "x"} if active`, engine.FailureIllTyped},
		"reason is a number":      {nobody + `decision := {"allow": true, "reason": 1} if active`, engine.FailureIllTyped},
		"one more":                {nobody + `decision := {"allow": true, "reason": "x", "more": 1} if active`, engine.FailureIllTyped},
		"code is a number":        {nobody + `decision := {"allow": true, "reason": "x", "code": 1} if active`, engine.FailureIllTyped},
		"code and more":           {nobody + `decision := {"allow": true, "reason": "x", "code": "x", "more": 1} if active`, engine.FailureIllTyped},
		"code for a reason":       {nobody + `decision := {"allow": true, "code": "x"} if active`, engine.FailureIllTyped},
		"conflict":                {nobody + "decision := {\"allow\": true, \"reason\": \"x\"} if active\n\ndecision := {\"allow\": true, \"reason\": \"y\"} if active", engine.FailureConflict},
		"built-in error":          {nobody + `decision := {"allow": true, "reason": "x"} if { active; to_number(input.account.id) > 0 }`, engine.FailureBuiltin},
		"built-in error, negated": {nobody + `decision := {"allow": true, "reason": "x"} if { active; not to_number(input.account.id) }`, engine.FailureBuiltin},
		"a reason as a document":  {nobody + `decision := {"allow": true, "reason": sprintf("%*d", [70000, 1])} if active`, engine.FailureIllTyped},
		"endless":                 {nobody + `decision := {"allow": true, "reason": "x"} if { active; ` + policytest.Endless + ` }`, engine.FailureTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			var counted []engine.Failure
			opts := engine.Options{Deadline: 10 * time.Second, Observer: engine.Observer{
				Evaluated: func(entry string, _ time.Duration, f engine.Failure) {
					counted = append(counted, engine.Failure(entry), f)
				},
			}}
			if c.want == engine.FailureTimeout {
				opts.Deadline = 20 * time.Millisecond
			}
			e := must.Get(engine.New(t.Context(), policytest.Decision(t, c.rules), proof.Load, opts))(t)
			start := time.Now()
			d, err := e.Decide(t.Context(), policytest.Question(policytest.AdminSubject(), "account:user:read"))
			unavailable(t, d, err)
			if !reflect.DeepEqual(counted, []engine.Failure{"decision", c.want}) {
				t.Errorf("counted %q (%v)", counted, err)
			}
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// wantStopped is for an evaluation that met a bound.
func wantStopped(t *testing.T, d resources.Decision, err, bound error) {
	t.Helper()
	unavailable(t, d, err)
	if !errors.Is(err, bound) {
		t.Errorf("got %v, want %v", err, bound)
	}
}

// TestAPolicyThatTakesTooLongIsToldApart guarantees different errors for a policy out of time, a store that is down,
// and a request out of time.
func TestAPolicyThatTakesTooLongIsToldApart(t *testing.T) {
	e := newEngine(t, policytest.Decision(t, `decision := {"allow": true, "reason": "x"} if { input.subject.exists; `+policytest.Endless+" }\n\nelse := {\"allow\": false, \"reason\": \"no\"}"), engine.Options{Deadline: 20 * time.Millisecond})
	d, err := e.Decide(t.Context(), policytest.Question(policytest.AdminSubject(), "account:user:read"))
	wantStopped(t, d, err, resources.ErrPolicyTime)
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	d, err = e.Decide(ctx, policytest.Question(policytest.AdminSubject(), "account:user:read"))
	if unavailable(t, d, err); errors.Is(err, resources.ErrPolicyTime) {
		t.Errorf("the request was out of time: %v", err)
	}
}

func unavailable(t *testing.T, d resources.Decision, err error) {
	t.Helper()
	if d != (resources.Decision{}) || !resources.IsKind(err, resources.KindUnavailable) {
		t.Errorf("got %+v, %v", d, err)
	}
	if e := resources.AsError(err); e.Message != "The decision could not be made." || e.Cause == nil {
		t.Errorf("message %q, cause %v", e.Message, e.Cause)
	}
}

// panics is a context whose Err panics, deep inside an evaluation.
type panics struct{ context.Context }

func (panics) Err() error { panic("a fault in a dependency") }

// TestAPanicDenies guarantees that a panic before the evaluation or inside OPA
// denies this question and leaves the next one its answer.
func TestAPanicDenies(t *testing.T) {
	for name, verdicts := range map[string]int{"at the cache": 0, "inside OPA": -1} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, policytest.Small(t), engine.Options{Verdicts: verdicts})
			d, err := e.Decide(panics{t.Context()}, policytest.Question(policytest.AdminSubject(), "account:user:read"))
			unavailable(t, d, err)
			if d, err := e.Decide(t.Context(), policytest.Question(policytest.AdminSubject(), "account:user:read")); err != nil || !d.Allowed {
				t.Errorf("the next one: %+v, %v", d, err)
			}
		})
	}
}

// TestACallerWhoLeftGetsNoAnswer guarantees that a cancelled context denies.
func TestACallerWhoLeftGetsNoAnswer(t *testing.T) {
	e := newEngine(t, policytest.Small(t), engine.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d, err := e.Decide(ctx, policytest.Question(policytest.AdminSubject(), "account:user:read"))
	unavailable(t, d, err)
}

// TestFactsOfAnotherAccountDeny guarantees that no account is judged by another's facts.
func TestFactsOfAnotherAccountDeny(t *testing.T) {
	e := newEngine(t, policytest.Small(t), engine.Options{})
	q := policytest.Question(policytest.AdminSubject(), "account:user:read")
	q.AccountID = "acct-other-v1"
	d, err := e.Decide(t.Context(), q)
	unavailable(t, d, err)
	d, err = e.Access(t.Context(), q)
	unavailable(t, d, err)
	d, err = e.Inside().Grantable(t.Context(), resources.Question{AccountID: q.AccountID, Facts: q.Facts, Grant: &resources.Grant{Permissions: []string{"account:*:*"}}})
	unavailable(t, d, err)
}

// TestTheTimeIsTheQuestions guarantees that the clock of a policy is the time of the question. Its verdict stays a
// function of the question.
func TestTheTimeIsTheQuestions(t *testing.T) {
	e := newEngine(t, policytest.Decision(t, `decision := {"allow": false, "reason": format_int(time.now_ns(), 10)}`), engine.Options{})
	q := policytest.Question(policytest.ActiveSubject(), "account:user:read")
	if d, err := e.Decide(t.Context(), q); err != nil || d.Reason != "1767225600000000000" {
		t.Errorf("got %+v, %v", d, err)
	}
}

// seen is the input as a policy sees it.
func seen(t *testing.T, q resources.Question) map[string]any {
	t.Helper()
	e := newEngine(t, policytest.Decision(t, `decision := {"allow": false, "reason": json.marshal(input)}`), engine.Options{})
	d := must.Get(e.Decide(t.Context(), q))(t)
	var out map[string]any
	must.Do(t, json.Unmarshal([]byte(d.Reason), &out))
	return out
}

// load proves a tree in memory.
func load(tb testing.TB, tree fs.FS) (*engine.Set, error) {
	tb.Helper()
	src := must.Get(policies.Read(tree))(tb)
	return proof.Load(context.Background(), src)
}
