package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/metrics"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/portcullis-authz/portcullis/policies/limits"
	"github.com/portcullis-authz/portcullis/policies/question"
	"github.com/portcullis-authz/portcullis/resources"
)

// Rule is one rule of a set, for those that analyse trees. It is for one goroutine at a time.
type Rule struct {
	set   *Set
	query *query
}

// Rule returns the rule of that name, as data.authz.met: all definitions of it. It must not be a function.
func (s *Set) Rule(name string) Rule { return Rule{s, newQuery(name)} }

// Value evaluates the rule on an input; nil is undefined. The error tells why there is no value.
func (r Rule) Value(ctx context.Context, input *ast.Term, now resources.Time, within time.Duration) (value ast.Value, err error) {
	defer func() {
		if p := recover(); p != nil {
			value, err = nil, &failed{FailurePanic, fmt.Errorf("%s: panic: %v", r.query.name, p)}
		}
	}()
	answer, err := r.set.answer(ctx, r.query, input, now, within)
	if err != nil || answer == nil {
		return nil, err
	}
	return answer.Value, nil
}

// InputOf returns the whole input for a question.
func InputOf(q *resources.Question) *ast.Term {
	in := question.Of(q)
	return in.Term(question.All())
}

// Compiled returns what the set was made of. It is not to be changed.
func (s *Set) Compiled() Compiled { return s.of }

// Unlisted says whether the tree is strict and does not list the action, with the denial of each question about it.
func (s *Set) Unlisted(action resources.Action) (resources.Decision, bool) {
	in := question.Of(&resources.Question{Action: action})
	return s.unlisted(EntryDecision, &in)
}

// Ref returns the rule's name as OPA has it.
func (r Rule) Ref() ast.Ref { return r.query.rule }

// Elements evaluates one definition of a partial set by itself, and returns the elements that it gives. The error
// tells why there are none.
func (s *Set) Elements(ctx context.Context, of *ast.Rule, input *ast.Term, now resources.Time, within time.Duration) (found ast.Set, err error) {
	defer func() {
		if p := recover(); p != nil {
			found, err = nil, &failed{FailurePanic, fmt.Errorf("%s: panic: %v", of.Ref(), p)}
		}
	}()
	bounds := s.bounds.Get().(*limits.Bounds)
	defer s.bounds.Put(bounds)
	bounds.Start(ctx, within, limits.OfQuestion)
	element := ast.VarTerm("element")
	body := append(of.Body.Copy(), ast.Equality.Expr(element, of.Head.Key))
	for i := range body {
		body[i].Index = i
	}
	found = ast.NewSet()
	err = topdown.NewQuery(body).
		WithCompiler(s.of.Compiler).WithStore(s.of.Store).WithTransaction(s.txn).
		WithInput(input).WithCancel(bounds).WithBuiltins(bounds.Builtins).WithRequestMetadata(s.noMetadata).
		WithStrictBuiltinErrors(true).WithMetrics(metrics.NoOp()).WithTime(time.UnixMilli(int64(now))).
		Iter(ctx, func(r topdown.QueryResult) error {
			found.Add(r["element"])
			return nil
		})
	if exceeded := bounds.Exceeded(); exceeded != nil {
		return nil, stopped(of.Ref().String(), exceeded)
	}
	if err != nil {
		return nil, &failed{classify(err), fmt.Errorf("%s: %w", of.Ref(), err)}
	}
	return found, nil
}
