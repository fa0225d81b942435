package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/test/must"
)

const listRequest = "GET /api/v1/accounts/acct-a-v1/roles HTTP/1.1\r\nHost: x\r\n" + bearer + "\r\n\r\n"

// waiting is an edge with a list; its client waits until the handler has been asked n times. asked counts these, and
// the channel gets a value each time.
func waiting(t *testing.T, n int64, wait time.Duration, change ...func(*gateway.Config)) (e *edge, asked *atomic.Int64, each chan int64) {
	asked, each = &atomic.Int64{}, make(chan int64, 1000)
	handler := func(_ context.Context, r *wire.Request) (wire.Response, error) {
		now := asked.Add(1)
		each <- now
		answer, err := wire.OK(map[string]any{"asked": now, "behind": r.Place})
		if now < n {
			answer.Wait, answer.Place = wait, now
		}
		return answer, err
	}
	all := append([]func(*gateway.Config){func(c *gateway.Config) { c.Handlers["access"]["list"] = handler }}, change...)
	return start(t, all...), asked, each
}

// TestHandlerIsAskedAgain until it has something to answer, and is given how far it has looked.
func TestHandlerIsAskedAgain(t *testing.T) {
	e, _, _ := waiting(t, 3, time.Minute)
	if got := e.overTCP(t).send(t, listRequest); got.Status != 200 || !strings.Contains(got.Body, `"asked":3,"behind":2`) {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}

// TestWaitEndsWithItsTime, and the answer is the last one.
func TestWaitEndsWithItsTime(t *testing.T) {
	e, asked, _ := waiting(t, 1000, 600*time.Millisecond)
	if got := e.overTCP(t).send(t, listRequest); got.Status != 200 || asked.Load() != 3 {
		t.Errorf("%d %s after %d", got.Status, got.Body, asked.Load())
	}
}

// TestWhoWaitsHoldsNoPlace among the requests under way.
func TestWhoWaitsHoldsNoPlace(t *testing.T) {
	e, _, each := waiting(t, 2, time.Minute, func(c *gateway.Config) { c.Limits.Requests = 1 })
	done := make(chan reply, 1)
	go func() { done <- e.overTCP(t).send(t, listRequest) }()
	<-each
	other := strings.Replace(listRequest, "GET", "POST", 1)
	for got := e.send(t, other); got.Status != 200; got = e.send(t, other) {
		if got.Status != 503 { // the first one is not out of the way yet
			t.Fatalf("%d %s", got.Status, got.Body)
		}
	}
	if got := <-done; got.Status != 200 {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}

// TestWhoWaitsIsAuthorizedAnew: who was let in and may not any more gets nothing. A refusal names its own verdict only.
func TestWhoWaitsIsAuthorizedAnew(t *testing.T) {
	var out, gone atomic.Bool
	e, _, each := waiting(t, 1000, time.Minute, func(c *gateway.Config) {
		c.Judge.Pin = policy{deny, func(ctx context.Context, q resources.Question) (resources.Decision, error) {
			if out.Load() {
				return deny(ctx, q)
			}
			return allow(ctx, q)
		}}.pin()
		c.Authn = authn{func(ctx context.Context, token string) (resources.Principal, error) {
			if gone.Load() {
				token = badToken
			}
			return alice(ctx, token)
		}}
	})
	for want, withdraw := range map[int]*atomic.Bool{403: &out, 401: &gone} {
		done := make(chan reply, 1)
		go func() { done <- e.overTCP(t).send(t, listRequest) }()
		<-each
		withdraw.Store(true)
		if got := <-done; got.Status != want || strings.Contains(got.Body, "asked") {
			t.Errorf("%d %s, want %d", got.Status, got.Body, want)
		} else if named := got.Header.Get("X-Decision-ID") != ""; named != (want == 403) {
			t.Errorf("%d names the verdict %q", got.Status, got.Header.Get("X-Decision-ID"))
		}
		withdraw.Store(false)
	}
}

// verdicts is a decision log that keeps whether each verdict allows.
type verdicts struct{ allowed []bool }

// Record implements resources.DecisionLog.
func (v *verdicts) Record(_ context.Context, all ...*resources.Judgement) error {
	for _, j := range all {
		v.allowed = append(v.allowed, j.Decision.Allowed)
	}
	return nil
}

// TestWaitIsRecordedOnce, and again where the verdict, or the revision of its facts, is another one.
func TestWaitIsRecordedOnce(t *testing.T) {
	cases := map[string]struct {
		change func(judged int64, d *resources.Decision)
		want   []bool
	}{
		"equal": {func(int64, *resources.Decision) {}, []bool{true}},
		"policy": {func(n int64, d *resources.Decision) {
			if n > 1 {
				d.PolicyRevision = "rev-2"
			}
		}, []bool{true, true}},
		"reason":      {func(n int64, d *resources.Decision) { d.Reason = fmt.Sprint(n > 1) }, []bool{true, true}},
		"code":        {func(n int64, d *resources.Decision) { d.Code = fmt.Sprint(n > 1) }, []bool{true, true}},
		"denied":      {func(n int64, d *resources.Decision) { d.Allowed = n == 1 }, []bool{true, false}},
		"other facts": {nil, []bool{true, true}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var judged, read atomic.Int64
			log := &verdicts{}
			var e *edge
			e, _, _ = waiting(t, 3, time.Minute, func(cfg *gateway.Config) {
				cfg.Judge.Log = log
				cfg.Judge.Pin = policy{deny, func(ctx context.Context, q resources.Question) (resources.Decision, error) {
					d, err := allow(ctx, q)
					if c.change != nil {
						c.change(judged.Add(1), &d)
					}
					if d.PolicyRevision == "rev-2" {
						must.Do(t, e.SetCatalogue("rev-2", catalogue()))
					}
					return d, err
				}}.pin()
				cfg.Judge.Facts = facts{func(_ context.Context, account, user, _ string) (resources.Facts, error) {
					revision := int64(7)
					if c.change == nil && read.Add(1) > 1 {
						revision = 8
					}
					return resources.Facts{Revision: revision, Subject: &resources.Subject{AccountID: account, UserID: user}}, nil
				}}
			})
			if got := e.overTCP(t).send(t, listRequest); (got.Status == 200) != c.want[len(c.want)-1] || !slices.Equal(log.allowed, c.want) {
				t.Errorf("%d %s, recorded %v, want %v", got.Status, got.Body, log.allowed, c.want)
			}
		})
	}
}

// TestDrainEndsWaits at once.
func TestDrainEndsWaits(t *testing.T) {
	e, _, each := waiting(t, 1000, time.Minute)
	done := make(chan reply, 1)
	go func() { done <- e.overTCP(t).send(t, listRequest) }()
	<-each
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := e.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	if got := <-done; got.Status != 200 {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}

// TestNobodyIsAskedForAClientThatHasGone guarantees the end of its wait at once. The next cluster would be claimed for the
// wait that a restarted provisioner left behind.
func TestNobodyIsAskedForAClientThatHasGone(t *testing.T) {
	e, asked, each := waiting(t, 1000, time.Minute)
	c := e.overTCP(t)
	must.Get(io.WriteString(c, listRequest))(t)
	<-each
	_ = c.Close()
	waitFor(t, "the client that has gone still waits", func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return len(e.records) > 0
	})
	if n, took := asked.Load(), e.last(t).Duration; n > 2 || took > soon {
		t.Errorf("the handler was asked %d times, in %s", n, took)
	}
}

// TestWhatAWaitingClientSendsAheadIsAnswered guarantees each answer of a client with several requests on one connection.
func TestWhatAWaitingClientSendsAheadIsAnswered(t *testing.T) {
	e, asked, _ := waiting(t, 3, time.Minute)
	c := e.overTCP(t)
	must.Get(io.WriteString(c, listRequest+strings.Repeat(strings.Replace(listRequest, "GET", "POST", 1), 2)))(t)
	for i := range 3 {
		if got := c.read(t); got.Status != 200 || (i == 0) != strings.Contains(got.Body, `"asked":3`) {
			t.Errorf("answer %d: %d %s", i, got.Status, got.Body)
		}
	}
	if n := asked.Load(); n != 3 {
		t.Errorf("the handler was asked %d times", n)
	}
}

// TestHandlerKnowsItsVerdict guarantees that a handler's context names the call's verdict. This holds after a wait for
// policy or a store, and at each further call of the handler.
func TestHandlerKnowsItsVerdict(t *testing.T) {
	for name, reason := range map[string]func(judged int64) string{
		"equal":   func(int64) string { return "equal" },
		"another": func(judged int64) string { return fmt.Sprint(judged) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var judged atomic.Int64
			var names []string
			e := start(t, func(c *gateway.Config) {
				c.Judge.Pin = policy{deny, func(ctx context.Context, q resources.Question) (resources.Decision, error) {
					ctx.Done()
					d, err := allow(ctx, q)
					d.Reason = reason(judged.Add(1))
					return d, err
				}}.pin()
				c.Handlers["access"]["list"] = func(ctx context.Context, _ *wire.Request) (wire.Response, error) {
					names = append(names, resources.DecisionOf(ctx))
					answer, err := wire.OK(struct{}{})
					if len(names) == 1 {
						answer.Wait = time.Minute
					}
					return answer, err
				}
			})
			got := e.overTCP(t).send(t, listRequest)
			id := got.Header.Get("X-Decision-ID")
			if got.Status != 200 || len(names) != 2 || names[0] == "" || names[1] != id || (names[0] == id) != (name == "equal") {
				t.Errorf("%d %q, handlers knew %q", got.Status, id, names)
			}
		})
	}
}

// behind is an edge in front of an area in a process of its own. A client of the area waits until its handler has been asked
// n times.
func behind(t *testing.T, n int, change ...func(*gateway.Config)) (*edge, *area) {
	t.Helper()
	a := &area{waits: n - 1, each: make(chan struct{}, n)}
	_, base := inner(t, a)
	return start(t, append([]func(*gateway.Config){func(c *gateway.Config) {
		c.Upstreams = map[string]*url.URL{"things": base}
	}}, change...)...), a
}

var thingRequest = request("POST", things+"a", "{}", bearer, jsonType)

// TestWhoWaitsForAnAreaIsAuthorizedAnew guarantees a wait at the gateway, however short its timeout for upstreams is. A caller
// without the right any more gets nothing.
func TestWhoWaitsForAnAreaIsAuthorizedAnew(t *testing.T) {
	var out atomic.Bool
	e, a := behind(t, 3, func(c *gateway.Config) {
		c.Limits.Upstream = 400 * time.Millisecond // less than a pause
		c.Judge.Pin = policy{deny, func(ctx context.Context, q resources.Question) (resources.Decision, error) {
			if out.Load() {
				return deny(ctx, q)
			}
			return allow(ctx, q)
		}}.pin()
	})
	if got := e.overTCP(t).send(t, thingRequest); got.Status != 200 || got.Header.Get("X-Portcullis-Wait") != "" || len(a.got) != 3 {
		t.Fatalf("%d %s %v after %d", got.Status, got.Body, got.Header, len(a.got))
	}
	a.waits = 1000
	<-a.each
	<-a.each
	done := make(chan reply, 1)
	go func() { done <- e.overTCP(t).send(t, thingRequest) }()
	<-a.each
	out.Store(true)
	if got := <-done; got.Status != 403 || strings.Contains(got.Body, "made") {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}

// TestAnAreaIsAskedForNobodyWhoHasGone guarantees the end of a wait for an area with its client.
func TestAnAreaIsAskedForNobodyWhoHasGone(t *testing.T) {
	e, a := behind(t, 1000)
	c := e.overTCP(t)
	must.Get(io.WriteString(c, thingRequest))(t)
	<-a.each
	_ = c.Close()
	waitFor(t, "the client that has gone still waits", func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return len(e.records) > 0
	})
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.got) > 2 || e.last(t).Duration > soon {
		t.Errorf("the area was asked %d times, in %s", len(a.got), e.last(t).Duration)
	}
}

// TestDrainEndsWaitsForAnArea at once.
func TestDrainEndsWaitsForAnArea(t *testing.T) {
	e, a := behind(t, 1000)
	done := make(chan reply, 1)
	go func() { done <- e.overTCP(t).send(t, thingRequest) }()
	<-a.each
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := e.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	if got := <-done; got.Status != 200 || e.last(t).Duration > soon {
		t.Errorf("%d %s in %s", got.Status, got.Body, e.last(t).Duration)
	}
}
