package peer_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/peer"
	"github.com/portcullis-authz/portcullis/gateway/peer/assertion"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestASlowReaderHasTheWholeAnswer guarantees that the time of an upstream ends while it is waited for, and not while the
// client of the gateway takes its own. The connection is in memory, so that a busy machine takes no time of either.
func TestASlowReaderHasTheWholeAnswer(t *testing.T) {
	const timeout, size = 50 * time.Millisecond, 8 << 20
	keys := assertions(t)
	synctest.Test(t, func(t *testing.T) {
		upstreamEnd, gatewayEnd := net.Pipe()
		server := &http.Server{ReadHeaderTimeout: timeout, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(make([]byte, size)) // fails if the gateway has gone
		})}
		listener := &oneConnection{c: upstreamEnd, closed: make(chan struct{})}
		go func() { _ = server.Serve(listener) }()
		defer func() { _ = server.Close() }()
		u := peer.NewUpstream("widgets", &url.URL{Scheme: "http", Host: "widgets.example"}, timeout, time.Minute, keys)
		peer.ConnectBy(u, func(context.Context, string, string) (net.Conn, error) { return gatewayEnd, nil })
		a := must.Get(u.Pass(t.Context(), peer.Call{Statement: assertion.Statement{Method: "GET", Target: "/x"}}))(t)
		time.Sleep(4 * timeout)
		first, err := io.CopyN(io.Discard, a.Body, 1)
		time.Sleep(4 * timeout)
		rest, restErr := io.Copy(io.Discard, a.Body)
		if err := errors.Join(err, restErr, a.Body.Close()); err != nil || first+rest != size {
			t.Errorf("%d bytes, %v", first+rest, err)
		}
	})
}

// oneConnection is a listener that accepts one connection.
type oneConnection struct {
	c      net.Conn
	closed chan struct{}
}

// Accept implements net.Listener.
func (l *oneConnection) Accept() (net.Conn, error) {
	if c := l.c; c != nil {
		l.c = nil
		return c, nil
	}
	<-l.closed
	return nil, net.ErrClosed
}

// Close implements net.Listener.
func (l *oneConnection) Close() error {
	close(l.closed)
	return nil
}

// Addr implements net.Listener.
func (l *oneConnection) Addr() net.Addr { return l.c.LocalAddr() }
