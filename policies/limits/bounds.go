package limits

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/portcullis-authz/portcullis/resources"
)

// Limits of what one evaluation allocates, in bytes. Garbage counts, too: the limits bound the memory of an evaluation
// and the work of the garbage collector for it.
const (
	// OfQuestion bounds the evaluation of a question.
	OfQuestion = 64 << 20
	// OfTest bounds one test of a tree: a test may be a table of many cases.
	OfTest = 1 << 30
	// stepMakes is about what a step of OPA allocates without its built-ins: an element of a comprehension has about
	// 100 bytes, and takes a few steps. The two million steps of OfQuestion take longer than the default deadline.
	stepMakes = 32
)

// clockEvery is the number of calls of Cancelled for each look at the clock.
const clockEvery = 16

// Bounds stop an evaluation that takes too long or allocates too much. They read the clock themselves, so that an
// evaluation needs neither a timer nor a goroutine. One evaluation uses them at a time, on one goroutine. They are a
// topdown.Cancel.
type Bounds struct {
	ctx      context.Context
	deadline time.Time
	budget   int  // bytes that the evaluation may still allocate
	asked    uint // calls of Cancelled
	stop     error
	// pace makes the evaluation rest. Rests do not count as its time. since is the end of the last one.
	pace  Pace
	since time.Time
	// Builtins charge the budget and then call OPA's own. An evaluation needs them as an option, since OPA's registry,
	// one for the process, does not have them.
	Builtins map[string]*topdown.Builtin
}

// NewBounds returns bounds of evaluations at a pace. Call Start before each evaluation.
func NewBounds(pace Pace) *Bounds {
	all := charged()
	b := &Bounds{pace: pace, Builtins: make(map[string]*topdown.Builtin, len(all))}
	for name, c := range all {
		b.Builtins[name] = &topdown.Builtin{Decl: c.decl, Func: func(bctx topdown.BuiltinContext, operands []*ast.Term, iter func(*ast.Term) error) error {
			if !b.take(c.cost(operands, b.budget)) {
				return topdown.Halt{Err: &topdown.Error{Code: topdown.CancelErr, Location: bctx.Location, Message: c.name + " would make too much"}}
			}
			return c.do(bctx, operands, iter)
		}}
	}
	return b
}

// Start begins an evaluation with this deadline and budget.
func (b *Bounds) Start(ctx context.Context, limit time.Duration, bytes int) {
	now := time.Now()
	b.ctx, b.deadline, b.budget, b.asked, b.stop, b.since = ctx, now.Add(limit), bytes, 0, nil, now
}

// Release forgets the evaluation's context.
func (b *Bounds) Release() { b.ctx, b.stop = nil, nil }

// take takes bytes from the budget. It returns false if the evaluation must stop.
func (b *Bounds) take(bytes int) bool {
	if b.budget -= bytes; b.budget < 0 && b.stop == nil {
		b.stop = resources.ErrPolicyMemory
	}
	return b.stop == nil
}

// Cancel implements topdown.Cancel.
func (b *Bounds) Cancel() { b.stop = context.Canceled }

// Cancelled implements topdown.Cancel. OPA calls it once for each step.
func (b *Bounds) Cancelled() bool {
	b.asked++
	if b.take(stepMakes) && b.asked%clockEvery != 1 {
		return false
	}
	return b.Exceeded() != nil
}

// Exceeded returns why the evaluation must not go on: resources.ErrPolicyMemory, resources.ErrPolicyTime or the
// context's error; nil while it may.
func (b *Bounds) Exceeded() error {
	if b.stop == nil {
		now := time.Now()
		switch err := b.ctx.Err(); {
		case err != nil: // the request has ended
			b.stop = err
		case !now.Before(b.deadline):
			b.stop = resources.ErrPolicyTime
		case b.pace.Rest(now.Sub(b.since)):
			b.since = time.Now()
			b.deadline = b.deadline.Add(b.since.Sub(now))
		}
	}
	return b.stop
}

// charges is a built-in with a cost, for compiled rules.
type charges struct {
	name string // OPA's name of it
	decl *ast.Builtin
	ref  ast.Ref
	do   topdown.BuiltinFunc
	cost cost
}

// chargedPrefix is the prefix of the built-ins in Bounds.Builtins. No policy can write such a name.
const chargedPrefix = "charged:"

// charged returns the built-ins with a cost, by their names in compiled rules.
func charged() map[string]*charges {
	out := map[string]*charges{}
	for name, cost := range costs() {
		do := topdown.GetBuiltin(name)
		if cost == nil || do == nil { // the compiler replaces rego.metadata.rule and its like
			continue
		}
		decl := *ast.BuiltinMap[name]
		decl.Name = chargedPrefix + name
		// One variable: OPA joins the parts of a reference at each call.
		out[decl.Name] = &charges{name, &decl, ast.Ref{ast.VarTerm(decl.Name)}, do, cost}
	}
	return out
}

// Charge replaces built-ins with a cost in the compiled rules by those of Bounds.Builtins. It calls refuse for each
// `with` that replaces a function by such a built-in, since OPA would call its own. Analyses of the rules by OPA's
// names must come before.
func Charge(c *ast.Compiler, refuse func(loc *ast.Location, problem string)) {
	all := charged()
	rename := func(t *ast.Term) (*ast.Term, bool) {
		ref, ok := t.Value.(ast.Ref)
		if !ok {
			return t, false
		}
		b, ok := all[chargedPrefix+ref.String()]
		if !ok {
			return t, false
		}
		return &ast.Term{Value: b.ref, Location: t.Location}, true
	}
	for _, module := range c.Modules {
		ast.NewGenericVisitor(func(x any) bool {
			switch x := x.(type) {
			case *ast.Expr:
				if x.IsCall() {
					terms := x.Terms.([]*ast.Term)
					terms[0], _ = rename(terms[0])
				}
			case ast.Call:
				x[0], _ = rename(x[0])
			case *ast.With:
				x.Target, _ = rename(x.Target)
				if _, made := rename(x.Value); made {
					refuse(x.Location, fmt.Sprintf("%s can't replace %s in a with, since nothing would bound its result: name a function that calls it",
						x.Value, strings.TrimPrefix(x.Target.String(), chargedPrefix)))
				}
			}
			return false
		}).Walk(module)
	}
}

// Name returns OPA's name of the built-in that an expression of compiled rules calls, charged or not.
func Name(operator ast.Ref) string { return strings.TrimPrefix(operator.String(), chargedPrefix) }
