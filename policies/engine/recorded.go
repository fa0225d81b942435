package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/portcullis-authz/portcullis/policies/limits"
	"github.com/portcullis-authz/portcullis/resources"
)

// The rules that say what the decision log keeps (package system.log).
const (
	maskRule = "data.system.log.mask"
	dropRule = "data.system.log.drop"
)

// usualInput holds most inputs, in bytes.
const usualInput = 2 << 10

// RecordedInput returns the input on which a judgement rests, as JSON.
func RecordedInput(j *resources.Judgement) ([]byte, error) {
	term, err := inputOf(j)
	if err != nil {
		return nil, err
	}
	return appendJSON(make([]byte, 0, usualInput), term.Value, math.MaxInt)
}

// inputOf returns the input by which a verdict was made.
func inputOf(j *resources.Judgement) (*ast.Term, error) {
	if j.Question.App != nil {
		input, err := newAppInput(&j.Question, nil)
		if err != nil {
			return nil, err
		}
		return input.whole(), nil
	}
	return InputOf(&j.Question), nil
}

// Masks says whether the tree in force says what the decision log leaves out.
func (e *Engine) Masks() bool { return e.current.Load().masks }

// Mask asks the tree in force about an event of the decision log: whether to drop it, and as JSON the
// members of its mask. The error is of rules that fail or have a value of another kind.
func (e *Engine) Mask(ctx context.Context, event []byte) (drop bool, rules []byte, err error) {
	set := e.current.Load()
	value, err := ast.ValueFromReader(bytes.NewReader(event))
	if err != nil {
		return false, nil, errors.New("the event is not a value of Rego")
	}
	asked := evaluation{input: ast.NewTerm(value), now: resources.At(time.Now()), limit: e.opts.Deadline, memory: limits.OfQuestion}
	asked.name = dropRule
	dropped, err := set.value(ctx, asked)
	if err != nil {
		return false, nil, whereItFails(dropRule, err)
	}
	if dropped != nil {
		whether, ok := dropped.(ast.Boolean)
		if !ok {
			return false, nil, fmt.Errorf("%s must be a boolean, not %s", dropRule, ast.ValueName(dropped))
		}
		drop = bool(whether)
	}
	asked.name = maskRule
	mask, err := set.value(ctx, asked)
	if err != nil {
		return false, nil, whereItFails(maskRule, err)
	}
	if mask == nil {
		return drop, []byte("[]"), nil
	}
	switch mask.(type) {
	case ast.Set, *ast.Array:
	default:
		return false, nil, fmt.Errorf("%s must be a set of paths, not %s", maskRule, ast.ValueName(mask))
	}
	rules, err = appendJSON(nil, mask, maxMask)
	return drop, rules, err
}

// whereItFails returns the error of a rule with its place. The message of a built-in can quote the event, which the rule
// would have masked.
func whereItFails(rule string, err error) error {
	var failure *topdown.Error
	switch {
	case errors.As(err, &failure):
		return fmt.Errorf("%s: %s at %s", rule, failure.Code, failure.Location)
	case FailureOf(err) == FailurePanic:
		return fmt.Errorf("%s: %s", rule, FailurePanic)
	}
	return err
}

// maxMask bounds the members of a mask in bytes.
const maxMask = 16 << 20

// has says whether the tree has a rule.
func (s *Set) has(rule string) bool { return len(s.tree.Compiler.GetRules(ast.MustParseRef(rule))) > 0 }

// value evaluates the rule with the evaluation's name, nil if it is undefined.
func (s *Set) value(ctx context.Context, e evaluation) (value ast.Value, err error) {
	if !s.has(e.name) {
		return nil, nil
	}
	values := 0
	e.body = ast.NewBody(ast.Equality.Expr(ast.NewTerm(ast.MustParseRef(e.name)), ast.VarTerm("value")))
	e.each = func(r topdown.QueryResult) error {
		value = r["value"].Value
		values++
		return nil
	}
	if err = s.run(ctx, e); err == nil && values > 1 {
		err = &failed{FailureIllTyped, fmt.Errorf("%s has several values", e.name)}
	}
	if err != nil {
		return nil, err
	}
	return value, nil
}
