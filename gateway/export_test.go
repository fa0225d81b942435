package gateway

import (
	"bufio"
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/portcullis-authz/portcullis/resources"
)

// The parsers, for tables and fuzz targets.
var (
	PathProblems = pathProblems
	ParseTarget  = parseTarget
)

// LateConn is a connection whose deadlines are put into force late.
func LateConn(c net.Conn) net.Conn { return &lateConn{Conn: c, clock: newClock()} }

// Enters and Sends are told what the server does with a connection.
var (
	Enters = enters
	Sends  = sends
)

// TimedConn is a connection that is held to limits, its other end, and what ends both.
func TimedConn(limits Limits) (c, peer net.Conn, end func()) {
	inner, peer := net.Pipe()
	k := newClock(limits.Read, limits.Write, limits.Idle)
	k.run()
	timed := &conn{lateConn: &lateConn{Conn: inner, clock: k}, limits: limits, open: &connections{}, draining: &atomic.Bool{}}
	timed.left.Store(true) // it was never counted
	enters(timed, fasthttp.StateActive)
	return timed, peer, func() {
		_ = errors.Join(inner.Close(), peer.Close())
		k.end()
		time.Sleep(2 * time.Second) // whoever is slow notices
	}
}

// DrainedConn is a connection of a server that is being stopped.
func DrainedConn(c net.Conn) net.Conn {
	draining := &atomic.Bool{}
	draining.Store(true)
	last := &conn{lateConn: &lateConn{Conn: c, clock: newClock()}, open: &connections{}, draining: draining}
	last.left.Store(true) // it was never counted
	last.answered.Store(true)
	return last
}

// Lifetime is a request's context and its end.
func Lifetime(parent context.Context, within time.Duration) (context.Context, func()) {
	l := &lifetime{parent: parent, deadline: time.Now().Add(within)}
	return l, l.end
}

// ScanHeaders frames a raw request head as the edge does; the header is the server's
// own reading of it, nil where the server refuses it by itself.
func ScanHeaders(head string) (*fasthttp.RequestHeader, error) {
	var h fasthttp.RequestHeader
	if err := h.Read(bufio.NewReaderSize(strings.NewReader(head), 64<<10)); err != nil {
		return nil, err
	}
	_, err := scanHeaders(&h)
	return &h, err
}

// Waited has a connection have said nothing for some time before it was served.
func Waited(c net.Conn, silent time.Duration) { c.(*conn).waited = silent }

// Lobby is a listener as the edge has it, which accepts.
func (e *Edge) Lobby(l net.Listener) net.Listener {
	in := e.newLobby(l)
	go in.fill()
	return in
}

// Settled is closed when the connection is no newcomer any more.
func Settled(c net.Conn) <-chan struct{} { return c.(*conn).done }

// Newcomers are how many connections are waited for at once, and for how long.
const (
	Newcomers    = newcomers
	NewcomerTime = newcomerTime
)

// Accepting is a listener that accepts: add waits like Accept, and gives what ends the wait
// for the connection that was accepted.
func Accepting() (add func() (settled func())) {
	p := &pace{}
	return func() func() { return p.add().settled }
}

// Find looks a path up in a table of these rows, all served by the gateway itself.
func Find(routes []resources.Route, method, path string) (name string, values, allow []string, err error) {
	for i := range routes {
		routes[i].Upstream = UpstreamAuthorize
	}
	t, err := newTable(routes, server{})
	if err != nil {
		return "", nil, nil, err
	}
	m := t.find(method, path, nil)
	if m.entry != nil {
		name = m.entry.Name
	}
	return name, m.values, m.allow, nil
}
