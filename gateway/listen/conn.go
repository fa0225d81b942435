package listen

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"time"
)

const (
	// lingerTime and lingerBytes bound what a peer may still send after a response that leaves a
	// part of the request unread. Without them the kernel resets the connection, and the peer may
	// lose the response.
	lingerTime  = 500 * time.Millisecond
	lingerBytes = 4 << 20
	// lastRequestTime bounds, in a shutdown, a request that was read just before the server closed
	// its connection.
	lastRequestTime = 5 * time.Second
	// firstByteTime bounds, in a shutdown, the wait for the first byte of a connection: its client may be
	// about to send a request.
	firstByteTime = time.Second
)

// Conn is a counted connection.
type Conn struct {
	net.Conn
	bounds *Bounds
	peer   netip.Prefix

	linger atomic.Bool // Close discards what the peer still sends
	ended  atomic.Bool // the connection is off the count
	last   atomic.Bool // the last request is being answered
	used   atomic.Bool // the client has sent something
	// reading is whether the server waits for bytes, unanswered whether it has read some since
	// the last response.
	reading, unanswered atomic.Bool
}

// Linger makes Close end the sending side first, and discard for a moment what the peer still sends.
func (c *Conn) Linger() { c.linger.Store(true) }

// Peer returns the connection's peer, as PeerOf does.
func (c *Conn) Peer() netip.Prefix { return c.peer }

// Read implements net.Conn. A connection on which nothing was sent is at its end when its time is over: the
// server would answer any other error, and nobody has asked.
func (c *Conn) Read(p []byte) (int, error) {
	c.reading.Store(true)
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.unanswered.Store(true)
		c.use()
	}
	c.reading.Store(false)
	if n == 0 && errors.Is(err, os.ErrDeadlineExceeded) && !c.used.Load() {
		err = io.EOF
	}
	return n, err
}

// use notes that the client has sent something.
func (c *Conn) use() {
	if c.used.Swap(true) {
		return
	}
	c.bounds.forget(c)
	if c.bounds.draining.Load() { // Drain may have left it firstByteTime
		_ = c.SetReadDeadline(time.Now().Add(lastRequestTime)) // fails on a closed connection, as the next read does
	}
}

// SetReadDeadline implements net.Conn. In a shutdown an unused connection has firstByteTime at most, even if the server
// gives it more.
func (c *Conn) SetReadDeadline(t time.Time) error {
	if err := c.Conn.SetReadDeadline(t); err != nil {
		return err
	}
	soon := time.Now().Add(firstByteTime)
	if c.bounds.draining.Load() && !c.used.Load() && (t.IsZero() || t.After(soon)) {
		return c.Conn.SetReadDeadline(soon)
	}
	return nil
}

// Write implements net.Conn.
func (c *Conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.unanswered.Store(false)
	return n, err
}

// Close implements net.Conn. In a shutdown the server closes connections that it takes for idle,
// and a request may have been read a moment before: the connection is then closed after the
// response, or after lastRequestTime.
func (c *Conn) Close() error {
	if c.bounds.draining.Load() && (c.reading.Load() || c.unanswered.Load()) && c.last.CompareAndSwap(false, true) {
		time.AfterFunc(lastRequestTime, func() { _ = c.end() }) // in case the server does not close it again
		if c.reading.Load() {
			return c.SetReadDeadline(time.Now()) // ends the server's read, after which the server closes the connection
		}
		return nil
	}
	return c.end()
}

// end closes the connection and takes it off the count, once.
func (c *Conn) end() error {
	defer func() {
		if c.ended.CompareAndSwap(false, true) {
			c.bounds.leave(c)
		}
	}()
	if c.linger.CompareAndSwap(true, false) {
		lingerOn(c.Conn)
	}
	return c.Conn.Close()
}

// CloseWrite ends the sending side. It fails if the inner connection cannot.
func (c *Conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// lingerOn ends the sending side, and discards for a moment what the peer still sends.
func lingerOn(c net.Conn) {
	half, ok := c.(interface{ CloseWrite() error })
	if ok && half.CloseWrite() == nil && c.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
		_, _ = io.CopyN(io.Discard, c, lingerBytes)
	}
}
