package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/metrics"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/portcullis-authz/portcullis/policies/limits"
	"github.com/portcullis-authz/portcullis/policies/question"
	"github.com/portcullis-authz/portcullis/resources"
)

// Failure says why an evaluation has not decided; it is a label for counting.
type Failure string

// The failures of an evaluation.
const (
	FailureUndefined Failure = "undefined"
	FailureIllTyped  Failure = "ill_typed"
	FailureConflict  Failure = "conflict"
	FailureBuiltin   Failure = "builtin"
	FailureTimeout   Failure = "timeout"
	FailureMemory    Failure = "memory"
	FailureCancelled Failure = "cancelled"
	FailurePanic     Failure = "panic"
	FailureFacts     Failure = "facts"
	FailureOther     Failure = "other"
)

// Failures returns every failure.
func Failures() []Failure {
	return []Failure{
		FailureUndefined, FailureIllTyped, FailureConflict, FailureBuiltin, FailureTimeout, FailureMemory, FailureCancelled,
		FailurePanic, FailureFacts, FailureOther,
	}
}

// failed is an evaluation without a decision.
type failed struct {
	why   Failure
	cause error
}

func (f *failed) Error() string { return string(f.why) + ": " + f.cause.Error() }
func (f *failed) Unwrap() error { return f.cause }

// FailureOf says why an evaluation has not decided.
func FailureOf(err error) Failure {
	if f, ok := errors.AsType[*failed](err); ok {
		return f.why
	}
	return FailureOther
}

// evaluate asks one entry point. Anything but a well-formed answer in time is an
// error with the zero decision.
func (s *Set) evaluate(
	ctx context.Context, entry string, q *resources.Question, limit time.Duration,
) (d resources.Decision, err error) {
	asked := s.queries[entry]
	answer, err := s.answer(ctx, asked, question.Term(q, asked.rows), q.Now, limit)
	switch {
	case err != nil:
		return d, err
	case answer == nil:
		return d, &failed{FailureUndefined, fmt.Errorf("%s is undefined", entry)}
	}
	return s.Read(entry, answer)
}

// answer returns the value of a rule for an input, nil where it is undefined.
func (s *Set) answer(ctx context.Context, q *query, input *ast.Term, now resources.Time, limit time.Duration) (*ast.Term, error) {
	values := topdown.NewVirtualCache()
	err := s.run(ctx, evaluation{
		name: q.name, body: q.body, input: input, now: now, limit: limit, memory: limits.OfQuestion, values: values,
		each: func(topdown.QueryResult) error { return nil },
	})
	if err != nil {
		return nil, err
	}
	answer, _ := values.Get(q.rule)
	return answer, nil
}

// evaluation is one run of OPA.
type evaluation struct {
	name  string // of what is asked, for errors
	body  ast.Body
	input *ast.Term
	// now is the time for a policy that asks for it.
	now    resources.Time
	limit  time.Duration
	memory int
	values topdown.VirtualCache
	each   func(topdown.QueryResult) error
}

// run evaluates a body within its bounds, and calls each with every result. Its error is a failure, also of a panic.
func (s *Set) run(ctx context.Context, e evaluation) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = panicked(e.name, r)
		}
	}()
	bounds := s.bounds.Get().(*limits.Bounds)
	bounds.Start(ctx, e.limit, e.memory)
	err = topdown.NewQuery(e.body).
		WithCompiler(s.tree.Compiler).
		WithStore(s.tree.Store).WithTransaction(s.txn).
		WithVirtualCache(e.values).
		WithInput(e.input).WithCancel(bounds).WithBuiltins(bounds.Builtins).WithRequestMetadata(s.noMetadata).
		WithStrictBuiltinErrors(true).
		WithMetrics(metrics.NoOp()).
		WithTime(time.UnixMilli(int64(e.now))).
		Iter(ctx, e.each)
	exceeded := bounds.Exceeded()
	bounds.Release()
	s.bounds.Put(bounds)
	switch {
	case exceeded != nil && (err == nil || topdown.IsCancel(err)):
		return stopped(e.name, exceeded)
	case err != nil:
		return &failed{classify(err), fmt.Errorf("%s: %w", e.name, err)}
	}
	return nil
}

func panicked(name string, r any) *failed {
	return &failed{FailurePanic, fmt.Errorf("%s: panic: %v", name, r)}
}

// stopped returns the failure of an evaluation that exceeded its bounds.
func stopped(entry string, exceeded error) *failed {
	why := FailureCancelled
	switch {
	case errors.Is(exceeded, resources.ErrPolicyMemory):
		why = FailureMemory
	case errors.Is(exceeded, resources.ErrPolicyTime), errors.Is(exceeded, context.DeadlineExceeded):
		why = FailureTimeout
	}
	return &failed{why, fmt.Errorf("%s: %w", entry, exceeded)}
}

// maxReason bounds what a policy gives as its reason, in bytes: callers are sent it.
const maxReason = 64 << 10

// Read returns the decision in the answer of an entry point: {"allow": boolean, "reason": string, "code": string} and
// nothing else. The code is empty if a tree leaves it out. Any other form is an error, with the zero decision.
func (s *Set) Read(entry string, answer *ast.Term) (resources.Decision, error) {
	if o, ok := answer.Value.(ast.Object); ok {
		allow, allowOK := valueAt[ast.Boolean](o, "allow")
		reason, reasonOK := valueAt[ast.String](o, "reason")
		code, codeOK := valueAt[ast.String](o, "code")
		if allowOK && reasonOK && (o.Len() == 2 || o.Len() == 3 && codeOK) && len(reason)+len(code) <= maxReason {
			return resources.Decision{Allowed: bool(allow), Code: string(code), Reason: string(reason), PolicyRevision: s.tree.Revision, BundleRevision: s.tree.Bundle}, nil
		}
	}
	return resources.Decision{}, &failed{FailureIllTyped, fmt.Errorf(
		"%s must be an object of a boolean allow, a string reason and, if at all, a string code, of at most %d bytes", entry, maxReason,
	)}
}

// valueAt returns a member of an object; false for a missing one, or one of another type.
func valueAt[T ast.Value](o ast.Object, name string) (value T, ok bool) {
	if term := o.Get(ast.InternedTerm(name)); term != nil {
		value, ok = term.Value.(T)
	}
	return value, ok
}

// classify says why an evaluation failed that no bound has stopped.
func classify(err error) Failure {
	e, ok := errors.AsType[*topdown.Error](err)
	if !ok {
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
