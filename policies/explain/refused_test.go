package explain_test

import (
	"context"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/explain"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/test/must"
)

// busy is a context that fills a gate while one evaluation asks for a place.
type busy struct {
	context.Context

	gate *gate.Gate
	// before counts the evaluations before that one.
	before int
	full   bool
}

// Value implements context.Context: the gate asks each evaluation for its account.
func (b *busy) Value(key any) any {
	if _, asks := key.(gate.AccountKey); asks {
		if b.full {
			b.gate.Leave()
		}
		b.full = b.before == 0
		if b.before--; b.full {
			_ = b.gate.TryEnter() // nobody else is inside
		}
	}
	return b.Context.Value(key)
}

// TestARefusedEvaluationIsSeen guarantees an error or an answer that is not complete, if the gate has no room for one of the
// evaluations. The answer to the question has one fix.
func TestARefusedEvaluationIsSeen(t *testing.T) {
	g := gate.New(1, 0)
	e := must.Get(engine.New(t.Context(), policytest.Small(t), proof.LoadProven, engine.Options{Gate: g, Verdicts: -1, Deadline: time.Minute}))(t)
	q, incomplete := policytest.Question(policytest.ActiveSubject(), "account:user:read"), 0
	for before := 0; ; before++ {
		ctx := &busy{Context: t.Context(), gate: g, before: before}
		x, err := explain.Explain(ctx, e.Pin(), q, &explain.Document{})
		if ctx.full {
			g.Leave()
		}
		if ctx.before >= 0 {
			if err != nil || !x.Complete || len(x.Fixes) != 1 {
				t.Errorf("nothing was refused: %+v, %v", x, err)
			}
			break
		}
		if err == nil && x.Complete {
			t.Errorf("without evaluation %d: %+v", before, x)
		} else if err == nil {
			incomplete++
		}
	}
	if incomplete == 0 {
		t.Error("no answer says that it is not complete")
	}
}
