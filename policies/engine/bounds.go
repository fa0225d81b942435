package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/portcullis-authz/portcullis/resources"
)

// Bounds of what one evaluation makes, in bytes. Garbage counts as well, so
// that an evaluation neither holds more nor has the garbage collector work for more.
const (
	// maxMade bounds the evaluation of a question.
	maxMade = 64 << 20
	// maxMadeByTest bounds one test of a tree, which may be a table of many cases.
	maxMadeByTest = 1 << 30
	// stepMakes is about what a step of OPA keeps besides what its built-ins make: it takes a few to
	// make an element of a comprehension, of 100 bytes. Two million steps take longer than an
	// evaluation has by default.
	stepMakes = 32
)

// clockEvery is how many of OPA's questions share one look at the clock.
const clockEvery = 16

// bounds stops an evaluation that takes too long or makes too much. It looks at the clock itself,
// so that an evaluation needs neither a timer nor a goroutine. One evaluation uses it at a time,
// on one goroutine.
type bounds struct {
	ctx      context.Context
	at       time.Time
	left     int // of what may be made
	asked    uint
	why      Failure
	cause    error // what the domain calls it, where it has a name for it
	builtins map[string]*topdown.Builtin
}

// newBounds makes bounds with built-ins that are charged to them. They are no part of OPA's own
// registry, which belongs to the whole process.
func newBounds() *bounds {
	b := &bounds{builtins: make(map[string]*topdown.Builtin, len(charged()))}
	for name, of := range charged() {
		b.builtins[name] = &topdown.Builtin{Decl: of.decl, Func: func(bctx topdown.BuiltinContext, operands []*ast.Term, iter func(*ast.Term) error) error {
			if !b.take(of.cost(operands, b.left)) {
				return topdown.Halt{Err: &topdown.Error{Code: topdown.CancelErr, Location: bctx.Location, Message: of.name + " would make too much"}}
			}
			return of.do(bctx, operands, iter)
		}}
	}
	return b
}

func (b *bounds) start(ctx context.Context, within time.Duration, most int) {
	b.ctx, b.at, b.left, b.asked, b.why, b.cause = ctx, time.Now().Add(within), most, 0, "", nil
}

// take is false where so much would exceed what is left.
func (b *bounds) take(bytes int) bool {
	if b.left -= bytes; b.left < 0 && b.why == "" {
		b.why, b.cause = FailureMemory, resources.ErrPolicyMemory
	}
	return b.why == ""
}

// Cancel implements topdown.Cancel.
func (b *bounds) Cancel() { b.why = FailureCancelled }

// Cancelled implements topdown.Cancel. OPA asks once for each step.
func (b *bounds) Cancelled() bool {
	b.asked++
	if b.take(stepMakes) && b.asked%clockEvery != 1 {
		return false
	}
	return b.over()
}

func (b *bounds) over() bool {
	if b.why == "" {
		switch err := b.ctx.Err(); {
		case errors.Is(err, context.DeadlineExceeded): // of the request, on which more was done than this
			b.why = FailureTimeout
		case err != nil:
			b.why = FailureCancelled
		case !time.Now().Before(b.at):
			b.why, b.cause = FailureTimeout, resources.ErrPolicyTime
		}
	}
	return b.why != ""
}

// boundsPool lends bounds to evaluations. One that panics gives nothing back.
type boundsPool struct{ sync.Pool }

func (p *boundsPool) lend() *bounds { return p.Get().(*bounds) }

func (p *boundsPool) back(b *bounds) {
	b.ctx, b.cause = nil, nil
	p.Put(b)
}

// charges is a built-in under the name by which compiled rules call it.
type charges struct {
	name string // OPA's
	decl *ast.Builtin
	ref  ast.Ref
	do   topdown.BuiltinFunc
	cost cost
}

// chargedPrefix begins the names of built-ins that are charged to bounds. No policy can write such
// a name.
const chargedPrefix = "charged:"

// charged are the built-ins that make something, by the name by which compiled rules call them.
var charged = sync.OnceValue(func() map[string]*charges {
	out := map[string]*charges{}
	for name, of := range costs() {
		do := topdown.GetBuiltin(name)
		if of == nil || do == nil { // rego.metadata.rule and its like are gone when the tree is compiled
			continue
		}
		decl := *ast.BuiltinMap[name]
		decl.Name = chargedPrefix + name
		// One variable, as OPA puts the name together for each call from its parts.
		out[decl.Name] = &charges{name, &decl, ast.Ref{ast.VarTerm(decl.Name)}, do, of}
	}
	return out
})

// charge has the rules call built-ins that make something under the names of bounds.builtins. A
// compiler's plans for reusing verdicts are made before: they know OPA's names.
func charge(c *ast.Compiler, p *Problems) {
	rename := func(t *ast.Term) (*ast.Term, bool) {
		ref, ok := t.Value.(ast.Ref)
		if !ok {
			return t, false
		}
		of, ok := charged()[chargedPrefix+ref.String()]
		if !ok {
			return t, false
		}
		return &ast.Term{Value: of.ref, Location: t.Location}, true
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
					p.at(x.Location.File, x.Location.Row, "%s can't take the place of %s: what it makes is not bounded then; name a function that calls it", x.Value, x.Target)
				}
			}
			return false
		}).Walk(module)
	}
}
