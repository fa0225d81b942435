package outbox

import (
	"context"
	"errors"
	"net"
	"time"
)

// maxAnswers bounds what a mail server can say in one conversation, in bytes.
const maxAnswers = 1 << 20

var errTalkative = errors.New("the mail server says too much")

// boundConn is a connection to a mail server that ends with the delivery's context, and
// at no other time: the library, which knows a context for dialling only, would give
// each of its steps the whole time again.
type boundConn struct {
	net.Conn
	left int
	stop func() bool
}

// dialBound connects; the connection is closed when ctx ends.
func dialBound(ctx context.Context, network, address string) (*boundConn, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	b := &boundConn{Conn: conn, left: maxAnswers}
	b.stop = context.AfterFunc(ctx, func() { _ = conn.Close() })
	return b, nil
}

// Read implements net.Conn.
func (b *boundConn) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTalkative
	}
	n, err := b.Conn.Read(p)
	b.left -= n
	return n, err
}

// SetDeadline implements net.Conn: there is one deadline, the context's.
func (b *boundConn) SetDeadline(time.Time) error { return nil }

// Close implements net.Conn.
func (b *boundConn) Close() error {
	b.stop()
	return b.Conn.Close()
}
