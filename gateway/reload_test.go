package gateway_test

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestACallIsJudgedByTheTreeOfItsRow guarantees that a tree brought into force during a call lets nobody in by a row of the
// tree before it: neither of the two may allow the call. A call whose row is in both trees goes on, also in the moment
// before the edge has the new rows.
func TestACallIsJudgedByTheTreeOfItsRow(t *testing.T) {
	for name, c := range map[string]struct {
		change func(row *resources.Route)
		want   int
	}{
		"the row has another action": {func(row *resources.Route) { row.Action = "account:role:replace" }, 503},
		"the row is at another path": {func(row *resources.Route) { row.Path = "/moved" }, 503},
		"the row is for services":    {func(row *resources.Route) { row.Action, row.Access = "", []string{"service:users:sync"} }, 503},
		"the row is the same":        {func(*resources.Route) {}, 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var reloaded atomic.Bool
			judged, made := make(chan struct{}, 1), false
			e := start(t, func(cfg *gateway.Config) {
				cfg.Judge.Pin = policy{deny, func(ctx context.Context, q resources.Question) (resources.Decision, error) {
					judged <- struct{}{}
					if !reloaded.Load() {
						return deny(ctx, q)
					}
					return resources.Decision{Allowed: q.Action.ID == "account:role:create", PolicyRevision: "rev-2"}, nil
				}}.pin()
				cfg.Handlers["access"]["create"] = func(context.Context, *wire.Request) (wire.Response, error) {
					made = true
					return wire.OK(map[string]any{})
				}
			})
			rows := catalogue()
			c.change(&rows[2])
			l := e.dial(t)
			head := "POST /api/v1/accounts/acct-a-v1/roles HTTP/1.1\r\nHost: gateway\r\n" + bearer + "\r\n" + jsonType + "\r\nContent-Length: 2\r\n\r\n{"
			must.Get(io.WriteString(l, head))(t)
			for held := int64(0); held == 0; held, _ = e.Bodies() { // the row is known by then
				time.Sleep(time.Millisecond)
			}
			reloaded.Store(true)
			must.Get(io.WriteString(l, "}"))(t)
			<-judged
			must.Do(t, e.SetCatalogue("rev-2", rows))
			if r := l.read(t); r.Status != c.want || made != (c.want == 200) || r.Status == 503 && r.Header.Get("Retry-After") == "" {
				t.Errorf("%d %s %v, made: %v", r.Status, r.Body, r.Header, made)
			}
		})
	}
}

// TestACallOfTwoReloadsIsRefused guarantees an answer to a call if a further tree comes before the edge has the rows of the
// tree that judged it.
func TestACallOfTwoReloadsIsRefused(t *testing.T) {
	judged := make(chan struct{}, 1)
	e := start(t, func(cfg *gateway.Config) {
		cfg.Judge.Pin = policy{deny, func(context.Context, resources.Question) (resources.Decision, error) {
			judged <- struct{}{}
			return resources.Decision{Allowed: true, PolicyRevision: "rev-2"}, nil
		}}.pin()
	})
	answer := make(chan reply, 1)
	go func() { answer <- e.send(t, listRequest) }()
	<-judged
	must.Do(t, e.SetCatalogue("rev-3", catalogue()))
	if r := <-answer; r.Status != 503 {
		t.Error(fmt.Sprint(r.Status, r.Body))
	}
}
