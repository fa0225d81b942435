package engine

import (
	"context"
	"math"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// untilTheContextEnds is the time of an evaluation that only its context bounds.
const untilTheContextEnds time.Duration = math.MaxInt64

// Inside is the engine for those who ask while they hold a session or a transaction of the
// store. It passes no gate: the holder of a place at the gate may be waiting for that very
// session. The sessions bound how many of its evaluations are under way.
type Inside struct{ engine *Engine }

// Inside gives the engine for questions that are asked inside a transaction.
func (e *Engine) Inside() Inside { return Inside{e} }

// Decide is Engine.Decide, without the gate.
func (i Inside) Decide(ctx context.Context, q resources.Question) (resources.Decision, error) {
	return i.engine.ask(ctx, i.engine.current.Load(), nil, i.engine.opts.Deadline, EntryDecision, q)
}

// Grantable answers whether the caller holds all that they want to give. Only the context
// bounds its time, since a grant can be hundreds of times as large as a question. Errors are
// as for Engine.Decide.
func (i Inside) Grantable(ctx context.Context, q resources.Question) (resources.Decision, error) {
	return i.engine.ask(ctx, i.engine.current.Load(), nil, untilTheContextEnds, EntryGrantable, q)
}
