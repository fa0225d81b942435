package gateway

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
)

var (
	errStopping = errors.New("the server stops")
	errAnswered = errors.New("the call is answered")
)

// lastStreamTime is how long before the end of the time for a stop the last streams end: their ends are yet to be sent.
const lastStreamTime = time.Second

// streams are the calls of doors that may last. They have no place among the requests under way.
type streams struct {
	places *gate.Gate
	// most bounds those of one account, 0 does not.
	most int
	// endless ends when a stop begins, last just before its time is over.
	endless, last       context.Context
	endEndless, endLast context.CancelCauseFunc

	mu        sync.Mutex
	byAccount map[string]int
}

func newStreams(limits Limits) *streams {
	s := &streams{places: newGate(limits.Streams), most: limits.StreamsPerAccount, byAccount: map[string]int{}}
	s.endless, s.endEndless = context.WithCancelCause(context.Background())
	s.last, s.endLast = context.WithCancelCause(context.Background())
	return s
}

// stop begins the stop of a server that has the context's time. The function that it returns ends it.
func (s *streams) stop(ctx context.Context) (stopped func()) {
	s.endEndless(errStopping)
	stopLast := context.AfterFunc(ctx, func() { s.endLast(errStopping) })
	timer := time.NewTimer(0)
	timer.Stop()
	if until, ok := ctx.Deadline(); ok {
		remaining := time.Until(until)
		timer = time.AfterFunc(remaining-min(lastStreamTime, remaining/2), func() { s.endLast(errStopping) })
	}
	return func() {
		timer.Stop()
		stopLast()
		s.endLast(errStopping)
	}
}

// enter takes a place for a stream of the account: 503.
func (s *streams) enter(account string) error {
	if err := s.places.TryEnter(); err != nil {
		return err
	}
	err := s.places.Share(account)
	if err != nil {
		s.places.Leave()
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.most > 0 && s.byAccount[account] >= s.most {
		s.places.Unshare(account)
		s.places.Leave()
		return gate.Full()
	}
	s.byAccount[account]++
	return nil
}

// leave gives the place back.
func (s *streams) leave(account string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byAccount[account]--; s.byAccount[account] == 0 {
		delete(s.byAccount, account)
	}
	s.places.Unshare(account)
	s.places.Leave()
}

// Open implements doors.Streams.
func (x *exchange) Open(endless bool) (context.Context, error) {
	if x.stream != nil {
		return x.stream.ctx, nil
	}
	all := x.edge.streams
	stop := all.last
	if endless {
		stop = all.endless
	}
	switch {
	case stop.Err() != nil:
		return nil, resources.Unavailable("The server stops; ask again.", errStopping)
	case endless && !x.raw.Request.Header.IsHTTP11():
		return nil, resources.Unavailable(needsNewer, errUnknownLength)
	}
	turns := turnsOf(&x.principal)
	account := cmp.Or(turns, x.principal.ID)
	if err := all.enter(account); err != nil {
		return nil, err
	}
	x.leave()
	x.releaseBody()
	// The context is not the request's, which would keep the request and its body for as long as the stream is open.
	parent := x.lifetime.parent
	if turns != "" {
		parent = context.WithValue(parent, gate.AccountKey{}, turns)
	}
	s := &stream{leave: func() { all.leave(account) }}
	s.ctx, s.cancel = context.WithCancelCause(parent)
	s.unstop = context.AfterFunc(stop, func() { s.cancel(errStopping) })
	if c, ok := x.raw.Conn().(*conn); ok {
		s.conn, s.watch = c, c.watch(func() { s.cancel(doors.ErrClientGone) })
	}
	x.stream = s
	return s.ctx, nil
}
