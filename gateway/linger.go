package gateway

import (
	"io"
	"net"
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
)

// lingerListener makes connections that can linger.
type lingerListener struct{ net.Listener }

// Accept implements net.Listener.
func (l lingerListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &lingerConn{Conn: c}, nil
}

// lingerConn ends its sending side first when it was told to.
type lingerConn struct {
	net.Conn
	linger atomic.Bool
}

// Close implements net.Conn.
func (c *lingerConn) Close() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok && c.linger.CompareAndSwap(true, false) {
		if half.CloseWrite() == nil && c.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
			_, _ = io.CopyN(io.Discard, c.Conn, lingerBytes) // what comes now is nobody's
		}
	}
	return c.Conn.Close()
}

// closeAfter closes the connection after the answer: what follows on it can't be
// trusted to be a request.
func closeAfter(raw *fasthttp.RequestCtx) {
	raw.SetConnectionClose()
	if c, ok := raw.Conn().(*lingerConn); ok {
		c.linger.Store(true)
	}
}
