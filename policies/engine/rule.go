package engine

import (
	"context"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

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

// Value evaluates the rule on an input; nil is undefined. The error says why it has no value.
func (r Rule) Value(ctx context.Context, input *ast.Term, now resources.Time, limit time.Duration) (ast.Value, error) {
	answer, err := r.set.answer(ctx, r.query, input, now, limit)
	if err != nil || answer == nil {
		return nil, err
	}
	return answer.Value, nil
}

// InputOf returns the whole input for a question.
func InputOf(q *resources.Question) *ast.Term { return question.Term(q, question.AllRows()) }

// Compiled returns what the set was made of. It is not to be changed.
func (s *Set) Compiled() Compiled { return s.tree }

// Elements evaluates one definition of a partial set by itself, and returns the elements that it gives. The error
// tells why there are none.
func (s *Set) Elements(ctx context.Context, rule *ast.Rule, input *ast.Term, now resources.Time, limit time.Duration) (ast.Set, error) {
	return s.each(ctx, rule.Ref().String(), rule.Body, rule.Head.Key, input, now, limit)
}
