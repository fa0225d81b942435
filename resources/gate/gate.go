package gate

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// Gate lets so many through at once, has so many wait, and turns the others away. A nil
// Gate lets everybody through. It is safe for concurrent use.
type Gate struct {
	inside  chan struct{}
	most    int64
	waiting atomic.Int64
	turned  atomic.Uint64
	// rooms are of those inside; nil where they give no way.
	rooms chan *room
}

// room is what one of those inside has.
type room struct {
	turn *turn
	stack
}

// New makes a gate for so many at once, at least one, with so many who wait.
func New(inside, waiting int) *Gate {
	return &Gate{inside: make(chan struct{}, max(inside, 1)), most: int64(waiting)}
}

// GivingWay makes a gate like New for work that takes a processor: who enters lets go first
// what came over the network meanwhile.
func GivingWay(inside, waiting int) *Gate {
	g := New(inside, waiting)
	g.rooms = make(chan *room, cap(g.inside))
	for range cap(g.rooms) {
		g.rooms <- &room{turn: newTurn()}
	}
	return g
}

// ErrFull is in the chain of a refusal: nothing is wrong but that there is too much to do.
var ErrFull = errors.New("too many wait already")

// retryAfter is when to come again: what waits is done by then.
const retryAfter = time.Second

// Enter waits for room. The error is a *resources.Error of KindUnavailable, with ErrFull
// where too many wait, else with why the context ended. Who has entered has to leave.
func (g *Gate) Enter(ctx context.Context) error {
	if g == nil {
		return nil
	}
	select {
	case g.inside <- struct{}{}:
		g.giveWay()
		return nil
	default:
	}
	if g.waiting.Add(1) > g.most {
		g.waiting.Add(-1)
		return g.turn(ErrFull)
	}
	defer g.waiting.Add(-1)
	select {
	case g.inside <- struct{}{}:
		g.giveWay()
		return nil
	case <-ctx.Done():
		return g.turn(ctx.Err())
	}
}

// giveWay is called inside, where there is a room for each.
func (g *Gate) giveWay() {
	if g.rooms == nil {
		return
	}
	r := <-g.rooms
	r.turn.wait()
	g.rooms <- r
}

// Do does the work of who has entered: where it takes a processor, on a stack of the gate's, of
// which there are as many as may be inside, and not on the caller's. A panic is the caller's.
func (g *Gate) Do(work func()) {
	if g == nil || g.rooms == nil {
		work()
		return
	}
	r := <-g.rooms
	defer func() { g.rooms <- r }()
	r.do(work)
}

// Leave makes room for the next one.
func (g *Gate) Leave() {
	if g != nil {
		<-g.inside
	}
}

func (g *Gate) turn(cause error) error {
	g.turned.Add(1)
	return refusal(cause)
}

// Full refuses what there is no room for: KindUnavailable, with ErrFull.
func Full() error { return refusal(ErrFull) }

func refusal(cause error) error {
	return &resources.Error{Kind: resources.KindUnavailable, Message: "There is too much to do now; try again.", RetryAfter: retryAfter, Cause: cause}
}

// Inside is how many are inside now.
func (g *Gate) Inside() int { return len(g.inside) }

// Waiting is how many wait now.
func (g *Gate) Waiting() int { return int(g.waiting.Load()) }

// Turned is how many were turned away until now.
func (g *Gate) Turned() uint64 { return g.turned.Load() }
