package gateway

import (
	"context"
	"sync"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

const (
	// askEvery is the pause before a handler is asked again for a client that waits.
	askEvery = 500 * time.Millisecond
	// askSeldom is the longest pause where the handler says when there is something new.
	askSeldom = 2 * time.Second
	// innerWait is how long an edge behind gateways lets a client wait: less than a gateway waits
	// for an upstream.
	innerWait = 25 * time.Second
	outerWait = time.Minute
)

// waiting holds the clients that wait for another response (wire.Response.Wait). They hold nothing but
// their connection: no place among the requests under way, no session of a store. Each time that the
// handler is asked, the caller is authorized anew, as a new request is.
type waiting struct {
	// clients bounds them; one too many is answered at once.
	clients *gate.Gate
	longest time.Duration
	// again holds the steps before the handler is asked again.
	again []step
	// drained is closed when the edge drains, which ends every wait.
	drained chan struct{}
	once    sync.Once
}

func (w *waiting) end() { w.once.Do(func() { close(w.drained) }) }

// respond asks the handler, and while the client waits and there is nothing to answer, asks it again.
func (e *Edge) respond(x *exchange, r *wire.Request) (wire.Response, error) {
	response, err := e.handler(x, r)
	if waiters := response.Waiters; err == nil && response.Wait > 0 && waiters != nil {
		if err := waiters.TryEnter(); err != nil {
			return wire.Response{}, err
		}
		defer waiters.Leave()
		account := turnsOf(&x.principal)
		if err := waiters.Share(account); err != nil {
			return wire.Response{}, err
		}
		defer waiters.Unshare(account)
	}
	for err == nil && response.Wait > 0 && e.pause(x, &response) {
		r.Place = response.Place
		response, err = e.askAgain(x, r)
	}
	return response, err
}

// handler calls the handler of an allowed call. What it asks policy is recorded before the answer.
func (e *Edge) handler(x *exchange, r *wire.Request) (response wire.Response, err error) {
	err = e.cfg.Judge.Handle(x.ctx, func(ctx context.Context) (err error) {
		response, err = x.entry.handler(ctx, r)
		return err
	})
	if err != nil {
		return wire.Response{}, err
	}
	return response, nil
}

// pause lets some time pass outside of the bound of requests under way. It returns false if the
// client has its answer now: its time is over, the edge drains, or too many wait. It also does for a client that has
// gone: a handler asked for it would hand work to nobody.
func (e *Edge) pause(x *exchange, r *wire.Response) bool {
	remaining := time.Until(x.arrived.Add(min(r.Wait, e.waiting.longest)))
	if remaining <= 0 || e.waiting.clients.TryEnter() != nil {
		return false
	}
	defer e.waiting.clients.Leave()
	account := turnsOf(&x.principal)
	if e.waiting.clients.Share(account) != nil {
		return false
	}
	defer e.waiting.clients.Unshare(account)
	x.leave()
	stays, gone := context.WithCancel(context.Background())
	defer gone()
	if c, ok := x.raw.Conn().(*conn); ok {
		defer c.watch(gone).stop()
	}
	return e.waiting.sleep(stays, min(remaining, askEvery), nil) &&
		(r.Wake == nil || e.waiting.sleep(stays, min(remaining-askEvery, askSeldom-askEvery), r.Wake))
}

// sleep returns true after the time or when it is woken, false when the edge drains or the client has gone.
func (w *waiting) sleep(stays context.Context, d time.Duration, wake <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-wake:
	case <-w.drained:
		return false
	case <-stays.Done():
	}
	return stays.Err() == nil
}

// askAgain authorizes the caller anew and asks the handler.
func (e *Edge) askAgain(x *exchange, r *wire.Request) (wire.Response, error) {
	life := &lifetime{parent: x.lifetime.parent, account: x.lifetime.account, deadline: time.Now().Add(e.cfg.Limits.Handle)}
	defer life.end()
	x.ctx = life
	for _, s := range e.waiting.again {
		if err := s(x); err != nil {
			return wire.Response{}, err
		}
	}
	r.Principal = x.principal
	return e.handler(x, r)
}

// identifyAgain finds out who calls now. The verdict on the former caller is not that of a refusal here.
func (e *Edge) identifyAgain(x *exchange) error {
	err := e.identify(x)
	if err != nil {
		x.raw.Response.Header.Del(headerDecisionID)
	}
	return err
}

// authorizeAgain has the call judged as authorize does. It does not record a verdict equal to the last one on facts of
// the same revision: the client gets one verdict, and the decision log has it.
func (e *Edge) authorizeAgain(x *exchange) error {
	agent, err := x.acting()
	if err != nil {
		return err
	}
	o := e.quiet.Enter(x.ctx, &x.principal, x.match.Row, x.question())
	same := o.Err == nil && o.Code == x.record.Code && o.Reason == x.record.Reason &&
		o.PolicyRevision == x.record.PolicyRevision && o.AccountRevision == x.accountRevision
	if same && agent != nil {
		same = x.narrowed(e.quiet, agent).Allowed
	}
	if same {
		x.ctx = resources.WithDecision(x.ctx, x.record.DecisionID)
		return nil
	}
	return e.authorize(x)
}
