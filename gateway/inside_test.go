package gateway_test

import (
	"context"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// inside is policy for handlers, which decides each question alike.
type inside struct{ d resources.Decision }

func (i inside) Decide(context.Context, resources.Question) (resources.Decision, error) {
	return i.d, nil
}

func (i inside) Grantable(context.Context, resources.Question) (resources.Decision, error) {
	return i.d, nil
}

// fullFrom is a decision log that fails from its nth call.
type fullFrom struct {
	verdicts
	calls, n int
}

func (l *fullFrom) Record(ctx context.Context, judgements ...*resources.Judgement) error {
	if l.calls++; l.calls >= l.n {
		return context.DeadlineExceeded
	}
	return l.verdicts.Record(ctx, judgements...)
}

// TestVerdictsOfAHandlerAreRecordedBehindIt, below the call's own, and before the answer: where they can't be, there is none.
func TestVerdictsOfAHandlerAreRecordedBehindIt(t *testing.T) {
	for n, want := range map[int]struct{ status, recorded int }{9: {200, 2}, 2: {503, 1}} {
		log, during := &fullFrom{n: n}, 0
		e := start(t, func(c *gateway.Config) {
			judge := c.Judge
			judge.Log, judge.Inside = log, inside{resources.Decision{Allowed: true}}
			c.Handlers["access"]["list"] = func(ctx context.Context, r *wire.Request) (wire.Response, error) {
				if d, err := judge.Grantable(ctx, resources.Question{}); err != nil || !d.Allowed {
					t.Errorf("%+v, %v", d, err)
				}
				during = log.calls
				return ok(ctx, r)
			}
		})
		got := e.send(t, listRequest)
		if got.Status != want.status || during != 1 || log.calls != 2 || len(log.allowed) != want.recorded {
			t.Errorf("%d, %d calls of the log during the handler and %d in all, %d verdicts: want %+v", got.Status, during, log.calls, len(log.allowed), want)
		}
	}
}
