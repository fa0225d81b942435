package gateway

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/ratelimit"
	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// exchange is one request on its way through the steps. Every string in it is a copy, since the
// server reuses its buffers for the next request.
type exchange struct {
	edge   *Edge
	raw    *fasthttp.RequestCtx
	ctx    context.Context
	method string
	path   string
	query  string
	// hasQuery tells `?` with nothing behind it from no query at all.
	hasQuery bool
	headers  headers
	// consistency says that X-Consistency was sent.
	consistency bool
	// table has the rows in use; entry is the request's own.
	table *routeTable
	entry *entry
	// match is the row for the verdict: the entry's, or the original call's.
	match route.Match
	// original is somebody else's call in question, nil for none. foreign is the asking call in another protocol,
	// without a raw; vouched is the answer to it.
	original *doors.Original
	foreign  *doors.Foreign
	// inner is the call of a door for its caller, nil for none.
	inner   *doors.Inside
	vouched []doors.Header
	// resource is that of a protected door, nil for other calls.
	resource *doors.Resource
	// public says that no credential is looked at.
	public    bool
	body      []byte
	bodyRead  bool
	bodyHeld  int64
	principal resources.Principal
	// gate is the one that the request has to leave; rated is how its caller's rates stand.
	gate *gate.Gate
	// shared is the account as whose the request is counted there, "" for none.
	shared string
	rated  *ratelimit.Verdict
	// stream is the open one, held its content; both are nil once the server has them.
	stream *stream
	held   io.ReadCloser
	// account is the account in question, unless the path names one.
	account string
	record  Record
	// accountRevision is that of the recorded verdict.
	accountRevision int64
	// endTrace is nil where the request is not traced.
	endTrace func(*Record)
	// answered ends the steps.
	answered bool
	// room spares a warm request two of its ten allocations: one for its token, one for the values in its path.
	room struct {
		authorization, apiKey [1]string
		values                [4]string
	}
	lifetime lifetime
	// arrived is when the request did, by the clock that only goes on; started is the same by the edge's clock.
	arrived, started time.Time
}

// handle runs the steps and answers; it never panics and never answers twice.
func (e *Edge) handle(raw *fasthttp.RequestCtx) {
	defer func() {
		if e.leaving.Load() || !raw.Request.Header.IsHTTP11() {
			raw.SetConnectionClose()
		}
	}()
	defer e.survive(raw)
	x := e.begin(context.Background(), raw)
	if x.consistency = len(raw.Request.Header.PeekAll(headerConsistency)) > 0; x.consistency { // with any value: checkHeaders judges that
		x.lifetime.parent = resources.WithStrict(x.lifetime.parent)
	}
	e.readLine(x)
	x.trace()
	e.complete(x, e.steps)
}

// begin returns the exchange of a request that has arrived. A call in another protocol has a nil raw.
func (e *Edge) begin(parent context.Context, raw *fasthttp.RequestCtx) *exchange {
	started, arrived := e.cfg.Now(), time.Now()
	x := &exchange{edge: e, raw: raw, arrived: arrived, started: started, lifetime: lifetime{parent: parent, deadline: arrived.Add(e.cfg.Limits.Handle)}}
	x.ctx = &x.lifetime
	return x
}

// complete runs the steps, answers and records the request.
func (e *Edge) complete(x *exchange, steps []step) {
	defer x.lifetime.end()
	x.raw.Response.Header.Set("X-Request-ID", x.record.RequestID)
	defer func() {
		x.dropStream()
		x.leave()
		x.releaseBody()
		x.record.Status = x.raw.Response.StatusCode()
		x.ended()
	}()
	if err := e.run(x, steps); err != nil {
		e.refuse(x, err)
	}
	x.leaveBody()
}

// run goes through the steps; a panic becomes an internal error.
func (e *Edge) run(x *exchange, steps []step) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("gateway: panic: %v\n%s", p, debug.Stack())
		}
	}()
	for _, s := range steps {
		if err := s(x); err != nil || x.answered {
			return err
		}
	}
	return nil
}

// survive answers a panic outside of the steps, which would end the process.
func (e *Edge) survive(raw *fasthttp.RequestCtx) {
	if p := recover(); p != nil {
		err := resources.AsError(fmt.Errorf("gateway: panic: %v\n%s", p, debug.Stack()))
		raw.Response.Reset()
		send(raw, wire.Status(err.Kind), wire.ErrorBody("", err))
		closeAfter(raw)
		e.cfg.Log.Error("panic while answering a request", "error", err.Error())
	}
}

// readLine copies the method, path and query of the request. It takes the request id from X-Request-ID if that is valid,
// and otherwise makes one.
func (e *Edge) readLine(x *exchange) {
	h := &x.raw.Request.Header
	path, query, hasQuery := bytes.Cut(h.RequestURI(), []byte{'?'}) // two copies, so that what holds on to the path holds no query in memory
	x.path, x.query, x.hasQuery = string(path), string(query), hasQuery
	if x.record.RequestID = string(h.Peek("X-Request-ID")); !ValidRequestID(x.record.RequestID) {
		x.record.RequestID = e.cfg.IDs.ULID()
	}
	x.method = ownMethod(h.Method())
	x.record.Method, x.record.Path, x.record.Scheme = x.method, x.path, e.scheme()
}

// scheme returns the scheme of the edge's URLs.
func (e *Edge) scheme() string {
	if e.cfg.Certificates == nil {
		return "http"
	}
	return "https"
}

// trace begins the request's span, inside the caller's. Of several traceparent headers none counts.
func (x *exchange) trace() {
	if x.edge.cfg.Tracing == nil {
		return
	}
	parent := ""
	if x.raw != nil {
		if values := sent(&x.raw.Request.Header, "Traceparent"); len(values) == 1 {
			parent = values[0]
		}
	}
	x.lifetime.parent, x.record.TraceID, x.endTrace = x.edge.cfg.Tracing.Begin(x.lifetime.parent, x.method, parent)
}

// ended records the request when it has been answered.
func (x *exchange) ended() {
	now := x.edge.cfg.Now()
	x.record.At, x.record.Duration = now, now.Sub(x.started)
	if x.endTrace != nil {
		x.endTrace(&x.record)
	}
	x.edge.observe(x.record)
}

// sent returns copies of a header's values, in room where they fit there.
func sent(h *fasthttp.RequestHeader, name string, room ...string) []string {
	out := room[:0]
	for _, value := range h.PeekAll(name) {
		out = append(out, string(value))
	}
	return out
}

// ownMethod returns the method as a string that outlives the request.
func ownMethod(lent []byte) string {
	for _, method := range fiber.DefaultMethods {
		if string(lent) == method {
			return method
		}
	}
	return string(lent)
}
