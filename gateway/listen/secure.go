package listen

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// secure is the server's side of a TLS connection. The handshake is a part of its first Read or Write, so
// that the deadline of the first request bounds both together.
type secure struct {
	*tls.Conn
	bounds *Bounds
	failed atomic.Bool // the handshake's failure is counted
}

// Read implements net.Conn; its deadline bounds the handshake. After a failed one the connection is at
// its end: the server would answer any other error with a response that no client can read.
func (c *secure) Read(p []byte) (int, error) {
	if c.handshake() != nil {
		return 0, io.EOF
	}
	return c.Conn.Read(p)
}

// Write implements net.Conn. A server of gRPC writes before it reads.
func (c *secure) Write(p []byte) (int, error) {
	if err := c.handshake(); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// handshake does the handshake where it is to do, and counts a failed one once.
func (c *secure) handshake() error {
	err := c.HandshakeContext(context.Background())
	if err != nil && !c.failed.Swap(true) {
		c.bounds.handshakeFailed(c.RemoteAddr(), err)
	}
	return err
}

// readWriteTime is how much longer than a read its own writes may take, and the response to a too slow request.
const readWriteTime = 5 * time.Second

// SetReadDeadline implements net.Conn. A TLS connection writes while it reads, in a handshake and
// after a KeyUpdate: a client that reads nothing must not hold it there.
func (c *secure) SetReadDeadline(t time.Time) error {
	later := t
	if !t.IsZero() {
		later = t.Add(readWriteTime)
	}
	return errors.Join(c.Conn.SetReadDeadline(t), c.SetWriteDeadline(later))
}

// handshakeFailed counts and logs a failed handshake. It ignores a connection closed before its first byte (a probe)
// and an unused one at the shutdown.
func (b *Bounds) handshakeFailed(peer net.Addr, err error) {
	if errors.Is(err, io.EOF) || b.draining.Load() && errors.Is(err, os.ErrDeadlineExceeded) {
		return
	}
	b.failedHandshakes.Add(1)
	b.handshakeLog.warn("a TLS handshake failed", "address", PeerOf(peer).String(), "error", err.Error())
}

// FailedHandshakes returns how many TLS handshakes have failed.
func (b *Bounds) FailedHandshakes() uint64 { return b.failedHandshakes.Load() }
