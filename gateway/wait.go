package gateway

import (
	"context"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/peer"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

const (
	// askEvery is the pause before a handler is asked again for a client that waits.
	askEvery = 500 * time.Millisecond
	// askSeldom is the longest pause where the handler says when there is something new.
	askSeldom = 2 * time.Second
	// longestWait is how long a client may wait.
	longestWait = time.Minute
	// shortAnswer bounds what is read of an answer in whose place another one is waited for, in bytes.
	shortAnswer = 4 << 10
)

// waiting holds the clients that wait for another response (wire.Response.Wait). They hold nothing but
// their connection: no place among the requests under way, no session of a store. Each time that the
// handler is asked, the caller is authorized anew, as a new request is.
type waiting struct {
	// clients bounds them; one too many is answered at once.
	clients *gate.Gate
	// inFront says that clients wait at the gateway in front: it knows them, and asks again.
	inFront bool
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
	if e.waiting.inFront {
		if err == nil && response.Wait > 0 {
			x.raw.Response.Header.Set(peer.WaitHeader, strconv.FormatInt(response.Wait.Milliseconds(), 10))
		}
		return response, err
	}
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
		err = e.again(x, func() (err error) {
			r.Principal = x.principal
			response, err = e.handler(x, r)
			return err
		})
	}
	if err != nil {
		return wire.Response{}, err
	}
	return response, nil
}

// passedOn passes a call to its upstream. An upstream may say that there may be another answer: while the client waits, the
// call is passed on again.
func (e *Edge) passedOn(x *exchange) (*peer.Answer, error) {
	a, err := e.pass(x)
	never := make(chan struct{}) // nothing of another process wakes a client: it is asked seldom
	for err == nil && a.Wait > 0 && e.pause(x, &wire.Response{Wait: a.Wait, Wake: never}) {
		_, _ = io.CopyN(io.Discard, a.Body, shortAnswer) // its connection is for the next call
		_ = a.Body.Close()
		err = e.again(x, func() (err error) {
			a, err = e.pass(x)
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	return a, nil
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
	remaining := time.Until(x.arrived.Add(min(r.Wait, longestWait)))
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

// again authorizes the caller anew and asks again, within the time of a request.
func (e *Edge) again(x *exchange, ask func() error) error {
	life := &lifetime{parent: x.lifetime.parent, account: x.lifetime.account, deadline: time.Now().Add(e.cfg.Limits.Handle)}
	defer life.end()
	x.ctx = life
	for _, s := range e.waiting.again {
		if err := s(x); err != nil {
			return err
		}
	}
	return ask()
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
