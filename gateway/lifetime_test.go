package gateway_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestARequestsContextEnds guarantees that it ends at its deadline and with the request, for
// earlier waiters and for later callers, like a standard one.
func TestARequestsContextEnds(t *testing.T) {
	type key struct{}
	for _, waits := range []bool{false, true} {
		for name, want := range map[string]error{"deadline": context.DeadlineExceeded, "request": context.Canceled} {
			synctest.Test(t, func(t *testing.T) {
				ctx, end := gateway.Lifetime(context.WithValue(context.Background(), key{}, 7), time.Second)
				defer end()
				if waits {
					ctx.Done()
				}
				child, cancel := context.WithTimeout(context.WithValue(ctx, key{}, ctx.Value(key{}).(int)+1), time.Hour)
				defer cancel()
				must.Do(t, errors.Join(ctx.Err(), child.Err()))
				if name == "request" {
					end()
				} else {
					time.Sleep(time.Second)
				}
				<-ctx.Done()
				<-child.Done()
				if !errors.Is(ctx.Err(), want) || !errors.Is(child.Err(), want) || child.Value(key{}) != 8 || ctx.Value(key{}) != 7 {
					t.Errorf("%s, waits %v: %v %v %v", name, waits, ctx.Err(), child.Err(), child.Value(key{}))
				}
			})
		}
	}
	synctest.Test(t, func(t *testing.T) { // nobody waits
		ctx, end := gateway.Lifetime(resources.WithStrict(context.Background()), time.Second)
		if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) != time.Second || !resources.IsStrict(ctx) {
			t.Error("another deadline, or not strict")
		}
		time.Sleep(time.Second)
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			t.Error(ctx.Err())
		}
		after, endAfter := gateway.Lifetime(context.Background(), time.Second)
		endAfter()
		if end(); !errors.Is(after.Err(), context.Canceled) {
			t.Error(after.Err())
		}
		<-after.Done()
	})
}

// TestAContextEndsWithItsRequest: who kept it is not left waiting for the deadline.
func TestAContextEndsWithItsRequest(t *testing.T) {
	var kept context.Context
	e := start(t, func(c *gateway.Config) {
		c.Judge.Pin = policy{allow, func(ctx context.Context, q resources.Question) (resources.Decision, error) {
			kept = ctx
			return allow(ctx, q)
		}}.pin()
	})
	e.send(t, question("x"))
	select {
	case <-kept.Done():
	case <-time.After(5 * time.Second):
		t.Error("the request is over, its context is not")
	}
}
