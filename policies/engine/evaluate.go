package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/metrics"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/portcullis-authz/portcullis/resources"
)

// Failure says why there was no decision; it is a label for counting.
type Failure string

// The failures of an evaluation.
const (
	FailureUndefined Failure = "undefined"
	FailureIllTyped  Failure = "ill_typed"
	FailureConflict  Failure = "conflict"
	FailureBuiltin   Failure = "builtin"
	FailureTimeout   Failure = "timeout"
	FailureCancelled Failure = "cancelled"
	FailurePanic     Failure = "panic"
	FailureFacts     Failure = "facts"
	FailureOther     Failure = "other"
)

// failed is an evaluation without a decision.
type failed struct {
	why   Failure
	cause error
}

func (f *failed) Error() string { return string(f.why) + ": " + f.cause.Error() }
func (f *failed) Unwrap() error { return f.cause }

// evaluation is one that may be done on another goroutine, while whoever asks waits for it.
type evaluation struct {
	set      *Set
	ctx      context.Context
	entry    string
	input    *ast.Term
	within   time.Duration
	now      resources.Time
	decision resources.Decision
	err      error
}

func (v *evaluation) evaluate() {
	v.decision, v.err = v.set.evaluate(v.ctx, v.entry, v.input, v.within, v.now)
}

// evaluate asks one entry point. Anything but a well-formed answer in time is an
// error with the zero decision.
func (s *Set) evaluate(
	ctx context.Context, entry string, input *ast.Term, within time.Duration, now resources.Time,
) (d resources.Decision, err error) {
	defer func() {
		if r := recover(); r != nil {
			d, err = resources.Decision{}, &failed{FailurePanic, fmt.Errorf("%s: panic: %v", entry, r)}
		}
	}()
	q, stop := s.queries[entry], newDeadline(ctx, within)
	values := s.values.lend()
	err = topdown.NewQuery(q.body).
		WithCompiler(s.compiler).
		WithStore(s.store).WithTransaction(s.txn).
		WithBaseCache(s.base).WithVirtualCache(values).
		WithInput(input).WithCancel(stop).WithRequestMetadata(s.noMetadata).
		WithStrictBuiltinErrors(true).
		WithMetrics(metrics.NoOp()).
		WithTime(time.UnixMilli(int64(now))). // a policy that asks for the time gets the question's
		Iter(ctx, func(topdown.QueryResult) error { return nil })
	answer, _ := values.Get(q.rule)
	s.values.back(values)
	switch {
	case err != nil:
		return d, &failed{stop.classify(err), fmt.Errorf("%s: %w", entry, err)}
	case stop.over():
		return d, &failed{stop.why, fmt.Errorf("%s: the answer came too late", entry)}
	case answer == nil:
		return d, &failed{FailureUndefined, fmt.Errorf("%s is undefined", entry)}
	}
	return s.read(entry, answer)
}

// read takes {"allow": boolean, "reason": string, "code": string} and nothing else. A tree may leave the code out,
// which is then empty.
func (s *Set) read(entry string, answer *ast.Term) (resources.Decision, error) {
	if o, ok := answer.Value.(ast.Object); ok {
		allow, allowOK := member[ast.Boolean](o, s.words.k.allow)
		reason, reasonOK := member[ast.String](o, s.words.k.reason)
		code, codeOK := member[ast.String](o, s.words.k.code)
		if allowOK && reasonOK && (o.Len() == 2 || o.Len() == 3 && codeOK) {
			return resources.Decision{Allowed: bool(allow), Code: string(code), Reason: string(reason), PolicyRevision: s.revision}, nil
		}
	}
	return resources.Decision{}, &failed{FailureIllTyped, fmt.Errorf("%s must be an object of a boolean allow, a string reason and, if at all, a string code", entry)}
}

// member is false where the object has no such member, or one of another type.
func member[T ast.Value](o ast.Object, name *ast.Term) (value T, ok bool) {
	if term := o.Get(name); term != nil {
		value, ok = term.Value.(T)
	}
	return value, ok
}

// deadline stops an evaluation. It looks at the clock itself, so that an evaluation
// needs neither a timer nor a goroutine. One evaluation uses it, on one goroutine.
type deadline struct {
	ctx   context.Context
	at    time.Time
	asked uint
	why   Failure
}

// clockEvery is how many of OPA's questions share one look at the clock.
const clockEvery = 16

func newDeadline(ctx context.Context, within time.Duration) *deadline {
	return &deadline{ctx: ctx, at: time.Now().Add(within)}
}

// Cancel implements topdown.Cancel.
func (d *deadline) Cancel() { d.why = FailureCancelled }

// Cancelled implements topdown.Cancel.
func (d *deadline) Cancelled() bool {
	d.asked++
	if d.why == "" && d.asked%clockEvery != 1 {
		return false
	}
	return d.over()
}

func (d *deadline) over() bool {
	if d.why == "" {
		switch err := d.ctx.Err(); {
		case errors.Is(err, context.DeadlineExceeded), !time.Now().Before(d.at):
			d.why = FailureTimeout
		case err != nil:
			d.why = FailureCancelled
		}
	}
	return d.why != ""
}

func (d *deadline) classify(err error) Failure {
	var e *topdown.Error
	switch {
	case topdown.IsCancel(err) && d.why != "":
		return d.why
	case !errors.As(err, &e):
		return FailureOther
	}
	switch e.Code {
	case topdown.ConflictErr:
		return FailureConflict
	case topdown.BuiltinErr:
		return FailureBuiltin
	case topdown.TypeErr:
		return FailureIllTyped
	}
	return FailureOther
}
