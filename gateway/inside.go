package gateway

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/valyala/fasthttp"
	"golang.org/x/net/http/httpguts"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/resources"
)

// Inside answers a call that a door makes for its caller. It goes through the edge's steps behind the authentication:
// the bounds of requests under way, the caller's rates, the right to ask, the records. An agent is judged, too. Routes
// without a caller, of other processes and of protected doors do not exist here.
func (e *Edge) Inside(ctx context.Context, c *doors.Inside) doors.InsideAnswer {
	raw := &fasthttp.RequestCtx{}
	raw.Init(&fasthttp.Request{}, nil, quiet{})
	x := e.begin(ctx, raw)
	x.inner, x.record.RequestID = c, c.RequestID
	steps := e.inner
	if err := x.readInside(c); err != nil {
		steps = []step{func(*exchange) error { return err }}
	} else {
		e.readLine(x)
	}
	x.trace()
	e.complete(x, steps)
	a := doors.InsideAnswer{Status: raw.Response.StatusCode(), Header: http.Header{}, Body: bytes.Clone(raw.Response.Body())}
	for name, value := range raw.Response.Header.All() {
		a.Header.Add(string(name), string(value))
	}
	return a
}

// readInside reads the head of a door's call as that of any request.
func (x *exchange) readInside(c *doors.Inside) (err error) {
	if strings.ContainsFunc(c.Target, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return resources.BadRequest(resources.Problem{Field: "path", Text: "must be visible ASCII text"})
	}
	var head bytes.Buffer
	fmt.Fprintf(&head, "%s %s HTTP/1.1\r\nHost: inside\r\nContent-Length: %d\r\nX-Request-ID: %s\r\n", c.Method, c.Target, len(c.Body), c.RequestID)
	for _, h := range c.Header {
		if !httpguts.ValidHeaderFieldName(h.Name) || !httpguts.ValidHeaderFieldValue(h.Value) {
			return resources.BadRequest(resources.Problem{Field: h.Name, Text: "must not hold a control character"})
		}
		fmt.Fprintf(&head, "%s: %s\r\n", h.Name, h.Value)
	}
	head.WriteString("\r\n")
	h := &x.raw.Request.Header
	if err = h.Read(bufio.NewReaderSize(&head, head.Len()+1)); err == nil {
		x.headers, err = scanHeaders(h)
	}
	if err != nil {
		return resources.BadRequest(resources.Problem{Text: errFraming.Error()})
	}
	x.body, x.bodyRead = c.Body, true
	return nil
}

// assume takes over the caller of the door.
func (e *Edge) assume(x *exchange) error {
	if x.public || x.resource != nil || x.original != nil || x.entry.upstream != nil {
		return nothingHere()
	}
	x.principal = x.inner.Caller
	x.record.Principal, x.record.KeyID = x.principal.ID, x.principal.KeyID
	x.lifetime.useTurnsOf(turnsOf(&x.principal))
	return x.share()
}
