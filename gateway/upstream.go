package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/portcullis-authz/portcullis/gateway/peer"
	"github.com/portcullis-authz/portcullis/gateway/peer/assertion"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
)

var errUnknownLength = errors.New("the upstream's answer does not say how long it is, and is over --body-limit")

// upstream is a peer with the bound of the calls that are under way to it.
type upstream struct {
	*peer.Upstream
	gate *gate.Gate
}

func newUpstream(name string, base *url.URL, limits Limits, keys *assertion.Keys) *upstream {
	return &upstream{peer.NewUpstream(name, base, limits.Upstream, limits.Idle, keys), newGate(limits.Requests)}
}

// pass passes an allowed call to its upstream. There it is in the way of none but the upstream's own.
func (e *Edge) pass(x *exchange) (*peer.Answer, error) {
	x.leave()
	upstream := x.entry.upstream
	if err := x.enter(upstream.gate); err != nil {
		return nil, err
	}
	ctx, header, end := e.tracePass(x)
	a, err := upstream.Pass(context.WithoutCancel(ctx), peer.Call{Header: header, Statement: assertion.Statement{ // the answer is read after the request's end
		Upstream: x.entry.Route.Audience, RequestID: x.record.RequestID, Method: x.method, Target: string(x.raw.Request.Header.RequestURI()), IdempotencyKey: x.idempotencyKey(),
		Body: x.body, Principal: x.principal, Account: x.account, Action: x.entry.Route.Action,
	}})
	if err != nil {
		end(0, err)
		return nil, err
	}
	end(a.Status, nil)
	return a, nil
}

// passOn answers with the answer of an upstream.
func (e *Edge) passOn(x *exchange) error {
	a, err := e.passedOn(x)
	if err != nil {
		return err
	}
	if a.Length < 0 && !x.raw.Request.Header.IsHTTP11() {
		whole, err := e.readWhole(x, a.Body)
		if err != nil {
			return err
		}
		a.Body, a.Length = io.NopCloser(bytes.NewReader(whole)), int64(len(whole))
	}
	h := &x.raw.Response.Header
	for name, values := range a.Header {
		for _, value := range values {
			h.Add(name, value)
		}
	}
	x.keepRates()
	x.raw.Response.SetStatusCode(a.Status)
	x.raw.Response.SetBodyStream(a.Body, int(a.Length))
	return nil
}

// tracePass returns the context and the headers of a call to an upstream, with its span where the request is traced.
func (e *Edge) tracePass(x *exchange) (context.Context, http.Header, func(status int, err error)) {
	header := x.passed()
	if e.cfg.Tracing == nil {
		return x.ctx, header, func(int, error) {}
	}
	ctx, end := e.cfg.Tracing.Pass(x.ctx, x.entry.Route.Upstream, x.method, header)
	return ctx, header, end
}

// passed returns copies of the caller's headers that reach an upstream.
func (x *exchange) passed() http.Header {
	out := http.Header{}
	for _, name := range peer.Passed() {
		for _, value := range x.raw.Request.Header.PeekAll(name) {
			if len(value) > 0 {
				out.Add(name, string(value))
			}
		}
	}
	return out
}

// readWhole reads an answer's body to its end for its length, and closes it: a client of HTTP/1.0 does not read chunks.
func (e *Edge) readWhole(x *exchange, body io.ReadCloser) ([]byte, error) {
	most := e.cfg.Limits.Body
	read, err := io.ReadAll(io.LimitReader(counting{body, &e.bodies, &x.bodyHeld}, int64(most)+1))
	if err = errors.Join(err, body.Close()); err == nil && len(read) > most {
		err = errUnknownLength
	}
	if err != nil {
		return nil, resources.Unavailable(needsNewer, err)
	}
	return read, nil
}

// needsNewer is what a client of HTTP/1.0 gets instead of a stream.
const needsNewer = "The service behind this path did not answer as HTTP/1.0 needs it; ask by HTTP/1.1."
