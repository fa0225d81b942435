package compare_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/policytest"
)

// ending is a context that ends after a number of calls of Err.
type ending struct {
	context.Context
	remaining atomic.Int64
}

// Err implements context.Context.
func (e *ending) Err() error {
	if e.remaining.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestAnEndedComparisonIsAnError guarantees an error whenever the context ends: two cancelled evaluations are not equal
// answers.
func TestAnEndedComparisonIsAnError(t *testing.T) {
	small := policytest.Small(t)
	old := compiled(t, small)
	next := compiled(t, small.With("authz/authz.rego", policytest.SmallAuthz+"\ngrantable := {\"allow\": true, \"reason\": \"soon\"} if input.grant.until > input.now\n"))
	const enough = 1 << 40
	ctx := &ending{Context: t.Context()}
	ctx.remaining.Store(enough)
	if d, err := compare.Compare(ctx, old, next, 1); err != nil || len(d.Rows) == 0 {
		t.Fatalf("%v: %v", d, err)
	}
	asked := enough - ctx.remaining.Load()
	for _, n := range []int64{0, asked / 4, asked / 2, asked * 3 / 4, asked - 1} {
		ctx.remaining.Store(n)
		if d, err := compare.Compare(ctx, old, next, 1); err == nil {
			t.Errorf("ended when it was asked %d of %d times: %d differences, and no error", n, asked, len(d.Rows))
		}
	}
}
