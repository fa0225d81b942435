package gateway

import (
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// A connection that is closed while its peer still sends is reset, and a reset takes
// the answer with it. So an answer that leaves a part of the request unread is given
// this much time and this many bytes to arrive.
const (
	lingerTime  = 500 * time.Millisecond
	lingerBytes = 4 << 20
	// lastCallTime is how long a request may take that was read while its connection was
	// being closed.
	lastCallTime = 5 * time.Second
)

// conn holds whoever is connected to the limits of time, as the server says what it does, and
// ends its sending side first when it was told to.
type conn struct {
	*lateConn
	incoming
	limits Limits
	linger atomic.Bool
	open   *connections
	peer   netip.Prefix
	// address is the peer as text, "" until somebody asks for it.
	address string
	left    atomic.Bool
	// waited is how long nothing came after it was accepted.
	waited time.Duration
	// answered says that something was sent: it is no newcomer any more.
	answered atomic.Bool
	*newcomer
	// waits says that it is being read, taken that something was read since the last answer.
	draining               *atomic.Bool
	waits, taken, lastCall atomic.Bool
}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	if !c.answered.Load() && !c.answered.Swap(true) {
		defer c.settled()
		giveWay(c.open.turns) // what was worked out for the answer may have taken long
	}
	n, err := c.lateConn.Write(p)
	c.taken.Store(false)
	return n, err
}

// receive reads what comes.
func (c *conn) receive(p []byte) (int, error) {
	c.waits.Store(true)
	isNew := !c.answered.Load()
	if isNew && c.isSilent() {
		c.settled()
	}
	n, err := c.lateConn.Read(p)
	if isNew && n > 0 || err != nil { // its end is work, too, and many may end at once
		giveWay(c.open.turns)
	}
	if n > 0 {
		c.taken.Store(true)
	}
	c.waits.Store(false)
	return n, err
}

// Close implements net.Conn. A server that is stopped closes what it takes for idle from
// outside, also where a request was read a moment before: that one is answered first.
func (c *conn) Close() error {
	if c.draining.Load() && (c.waits.Load() || c.taken.Load()) && c.lastCall.CompareAndSwap(false, true) {
		time.AfterFunc(lastCallTime, func() { _ = c.end() }) // where nobody closes it after that
		if c.waits.Load() {
			return c.SetReadDeadline(time.Now()) // who waits for a request is woken, and closes it
		}
		return nil
	}
	return c.end()
}

func (c *conn) end() error {
	defer func() {
		if c.left.CompareAndSwap(false, true) {
			c.settled()
			c.open.leave(c.peer)
		}
	}()
	if c.linger.CompareAndSwap(true, false) {
		lingerOn(c.lateConn)
	}
	return c.lateConn.Close()
}

// lingerOn ends the sending side, and takes for a while what still comes: that is nobody's.
func lingerOn(c net.Conn) {
	half, ok := c.(interface{ CloseWrite() error })
	if ok && half.CloseWrite() == nil && c.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
		_, _ = io.CopyN(io.Discard, c, lingerBytes)
	}
}

// enters is told by the server what a connection does next: a request begins with its first
// byte, the first one with the connection, and has its time until it was read, however its
// parts come; after its answer the next one is waited for. What is said of a request that is
// not read to its end, that it is bad or that its body may come, has an answer's time after it.
func enters(of net.Conn, state fasthttp.ConnState) {
	c, ok := of.(*conn)
	switch {
	case !ok:
	case state == fasthttp.StateActive:
		limit := c.limits.Read
		if limit > 0 {
			limit, c.waited = max(limit-c.waited, 1), 0
		}
		c.readWithin(limit)
		if c.limits.Read <= 0 || c.limits.Write <= 0 {
			c.writeWithin(0)
			return
		}
		c.writeWithin(c.limits.Read + c.limits.Write)
	case state == fasthttp.StateIdle:
		c.readWithin(c.limits.Idle)
	}
}

// sends is told when an answer is about to be sent, which has its time as a whole.
func sends(of net.Conn) {
	if c, ok := of.(*conn); ok {
		c.writeWithin(c.limits.Write)
	}
}

// addressOf is from where a request comes, by its connection's socket alone.
func addressOf(raw *fasthttp.RequestCtx) string {
	c, ok := raw.Conn().(*conn)
	if !ok {
		return peerOf(raw.RemoteAddr()).String()
	}
	if c.address == "" {
		c.address = c.peer.String()
	}
	return c.address
}

// closeAfter closes the connection after the answer: what follows on it can't be
// trusted to be a request.
func closeAfter(raw *fasthttp.RequestCtx) {
	raw.SetConnectionClose()
	if c, ok := raw.Conn().(*conn); ok {
		c.linger.Store(true)
	}
}
