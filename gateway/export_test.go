package gateway

import (
	"bufio"
	"context"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/doors/e3"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
)

// Lifetime is a request's context and its end.
func Lifetime(parent context.Context, timeout time.Duration) (context.Context, func()) {
	l := &lifetime{parent: parent, deadline: time.Now().Add(timeout)}
	return l, l.end
}

// Waiting is the bound of the clients who wait for another answer.
func (e *Edge) Waiting() *gate.Gate { return e.waiting.clients }

// ScanHeaders frames a raw request head as the edge does; the header is the server's
// own reading of it, nil if the server refuses it by itself.
func ScanHeaders(head string) (*fasthttp.RequestHeader, error) {
	var h fasthttp.RequestHeader
	if err := h.Read(bufio.NewReaderSize(strings.NewReader(head), 64<<10)); err != nil {
		return nil, err
	}
	_, err := scanHeaders(&h)
	return &h, err
}

// Find looks a path up in a table of these rows, all served by the gateway itself.
func Find(routes []resources.Route, method, path string) (name string, values, allow []string, err error) {
	for i := range routes {
		routes[i].Upstream = resources.UpstreamAuthorize
	}
	e := &Edge{cfg: Config{Doors: map[string]doors.Door{}}}
	for _, r := range routes {
		e.cfg.Doors[r.Name] = e3.Door{}
	}
	t, err := e.newTable("", routes)
	if err != nil {
		return "", nil, nil, err
	}
	m := t.Served("", method, path, nil)
	if m.Row != nil {
		name = m.Route.Name
	}
	return name, m.Values, m.Allow, nil
}
