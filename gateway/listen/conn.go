package listen

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"time"
)

const (
	// A connection that is closed while its peer still sends is reset, and the reset destroys the
	// answer. After an answer that leaves a part of the request unread the peer is given this much
	// time and this many bytes to finish.
	lingerTime  = 500 * time.Millisecond
	lingerBytes = 4 << 20
	// lastRequestTime bounds in a shutdown the request that was read just before its connection was closed.
	lastRequestTime = 5 * time.Second
)

// Conn is a counted connection.
type Conn struct {
	net.Conn
	bounds *Bounds
	peer   netip.Prefix

	linger, left, last atomic.Bool
	// reading says that the server waits for bytes, unanswered that it read some since the last answer.
	reading, unanswered atomic.Bool
}

// Linger makes Close end the sending side first and read on for a moment.
func (c *Conn) Linger() { c.linger.Store(true) }

// Peer is where the connection comes from, as PeerOf says it.
func (c *Conn) Peer() netip.Prefix { return c.peer }

// Read implements net.Conn.
func (c *Conn) Read(p []byte) (int, error) {
	c.reading.Store(true)
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.unanswered.Store(true)
	}
	c.reading.Store(false)
	return n, err
}

// Write implements net.Conn.
func (c *Conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.unanswered.Store(false)
	return n, err
}

// Close implements net.Conn. In a shutdown the server closes from outside what it takes for idle,
// also where a request was read a moment before: that request is answered first.
func (c *Conn) Close() error {
	if c.bounds.draining.Load() && (c.reading.Load() || c.unanswered.Load()) && c.last.CompareAndSwap(false, true) {
		time.AfterFunc(lastRequestTime, func() { _ = c.end() }) // where the server does not close it again
		if c.reading.Load() {
			return c.SetReadDeadline(time.Now()) // wakes the server's read, which then closes
		}
		return nil
	}
	return c.end()
}

// end closes the connection and takes it off the count, once.
func (c *Conn) end() error {
	defer func() {
		if c.left.CompareAndSwap(false, true) {
			c.bounds.leave(c.peer)
		}
	}()
	if c.linger.CompareAndSwap(true, false) {
		lingerOn(c.Conn)
	}
	return c.Conn.Close()
}

// CloseWrite ends the sending side, where the connection has one.
func (c *Conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// lingerOn ends the sending side, and discards for a moment what still comes.
func lingerOn(c net.Conn) {
	half, ok := c.(interface{ CloseWrite() error })
	if ok && half.CloseWrite() == nil && c.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
		_, _ = io.CopyN(io.Discard, c, lingerBytes)
	}
}
