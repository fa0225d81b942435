package outbox

import (
	"context"
	"errors"
	"net"
	"time"
)

// maxAnswers bounds the answers of a mail server on one connection, in bytes.
const maxAnswers = 1 << 20

// errTooLong is the error of a server whose answers exceed maxAnswers.
var errTooLong = errors.New("the answers of the mail server are too long")

// boundConn is a connection to a mail server whose only deadline is the delivery's context. The mail
// library uses a context for dialling only, and would give each later step the whole time again.
type boundConn struct {
	net.Conn
	remaining int // bytes of answers that may still be read
	stop      func() bool
}

// dialBound opens a connection that is closed when ctx ends.
func dialBound(ctx context.Context, network, address string) (*boundConn, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	b := &boundConn{Conn: conn, remaining: maxAnswers}
	b.stop = context.AfterFunc(ctx, func() { _ = conn.Close() })
	return b, nil
}

// Read implements net.Conn.
func (b *boundConn) Read(p []byte) (int, error) {
	if b.remaining <= 0 {
		return 0, errTooLong
	}
	n, err := b.Conn.Read(p)
	b.remaining -= n
	return n, err
}

// SetDeadline implements net.Conn. It does nothing, since the context is the only deadline.
func (b *boundConn) SetDeadline(time.Time) error { return nil }

// Close implements net.Conn.
func (b *boundConn) Close() error {
	b.stop()
	return b.Conn.Close()
}
