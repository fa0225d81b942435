package gateway

import (
	"net"

	"github.com/valyala/fasthttp"

	"github.com/portcullis-authz/portcullis/gateway/listen"
)

// conn is a connection of which the server reads heads, and the steps read bodies.
type conn struct {
	*listen.Conn
	incoming
	// address is the peer as text, "" until it is asked for.
	address string
}

// headListener gives the server connections of which it reads heads.
type headListener struct{ *listen.Listener }

// Accept implements net.Listener.
func (l headListener) Accept() (net.Conn, error) {
	c, err := l.AcceptConn()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c}, nil
}

// addressOf is where a request comes from, as text.
func addressOf(raw *fasthttp.RequestCtx) string {
	c, ok := raw.Conn().(*conn)
	if !ok {
		return listen.PeerOf(raw.RemoteAddr()).String()
	}
	if c.address == "" {
		c.address = c.Peer().String()
	}
	return c.address
}
