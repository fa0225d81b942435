package gateway

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/portcullis-authz/portcullis/gateway/ratelimit"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// exchange is one request on its way through the steps. Every string in it is a copy:
// the server reuses its buffers for the next request.
type exchange struct {
	raw    *fasthttp.RequestCtx
	ctx    context.Context
	method string
	path   string
	query  string
	// hasQuery tells `?` with nothing behind it from no query at all.
	hasQuery bool
	headers  headers
	// consistency says that a consistency was asked for.
	consistency bool
	entry       *entry
	values      []string
	body        []byte
	bodyRead    bool
	bodyHeld    int64
	principal   resources.Principal
	// inside is the gate that the request has to leave; rated how its caller's rates stand.
	inside *gate.Gate
	rated  *ratelimit.Verdict
	// account is the account in question, target the place that the path names.
	account string
	target  resources.Target
	record  Record
	// answered ends the steps.
	answered bool
	// room spares an allocation for each of these lists.
	room struct {
		authorization, apiKey [1]string
		values                [4]string
	}
	lifetime lifetime
}

// handle runs the steps and answers; it never panics and never answers twice.
func (e *Edge) handle(raw *fasthttp.RequestCtx) {
	defer e.survive(raw)
	started := e.cfg.Now()
	x := &exchange{raw: raw, lifetime: lifetime{parent: context.Background(), deadline: time.Now().Add(e.cfg.Limits.Handle)}}
	x.ctx = &x.lifetime
	defer x.lifetime.end()
	if x.consistency = len(raw.Request.Header.PeekAll(headerConsistency)) > 0; x.consistency { // whatever it says: checkHeaders judges that
		x.lifetime.parent = resources.WithStrict(x.lifetime.parent)
	}
	e.readLine(x)
	setHeader(&raw.Response.Header, "X-Request-Id", x.record.RequestID)
	defer func() {
		x.inside.Leave()
		e.bodies.held.Add(-x.bodyHeld)
		x.record.ended(started, e.cfg.Now())
		x.record.Status = raw.Response.StatusCode()
		e.observe(x.record)
	}()
	if err := e.run(x); err != nil {
		e.refuse(x, err)
	}
	x.leaveBody()
}

// survive answers a panic outside of the steps; without it the process would end.
func (e *Edge) survive(raw *fasthttp.RequestCtx) {
	if p := recover(); p != nil {
		err := resources.AsError(fmt.Errorf("gateway: panic: %v\n%s", p, debug.Stack()))
		raw.Response.Reset()
		send(raw, wire.Status(err.Kind), wire.ErrorBody("", err))
		closeAfter(raw)
		e.cfg.Log.Error("panic while answering a request", "error", err.Error())
	}
}

// run goes through the steps; a panic becomes an internal error.
func (e *Edge) run(x *exchange) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("gateway: panic: %v\n%s", p, debug.Stack())
		}
	}()
	for _, s := range e.steps {
		if err := s(x); err != nil || x.answered {
			return err
		}
	}
	return nil
}

// refuse answers with an error in the shape of the route's area. A door may have a body of its own
// where there is no verdict.
func (e *Edge) refuse(x *exchange, err error) {
	domain := resources.AsError(err)
	full := errors.Is(err, gate.ErrFull) // under load, that is no error of each request
	if !full && (domain.Kind == resources.KindInternal || domain.Kind == resources.KindUnavailable || domain.Cause != nil) {
		x.record.Err = err
	}
	if x.record.Reason == "" { // no decision was reached
		x.record.Reason = domain.Message
	}
	h := &x.raw.Response.Header
	switch domain.Kind {
	case resources.KindBadRequest:
		x.record.Problems = inOneLine(domain.Problems)
	case resources.KindNoCredential, resources.KindBadCredential:
		h.Set("WWW-Authenticate", "Bearer")
	case resources.KindUnavailable, resources.KindRateLimited:
		h.Set("Retry-After", retryAfter(domain.RetryAfter))
	}
	area := ""
	if x.entry != nil {
		area = x.entry.Row.Area
		if x.entry.door != nil && domain.Kind == resources.KindUnavailable {
			if body := x.entry.door.Unavailable(err); body != nil {
				send(x.raw, wire.Status(domain.Kind), body)
				return
			}
		}
	}
	send(x.raw, wire.Status(domain.Kind), wire.ErrorBody(area, domain))
}

// malformed answers what could not be read as a request at all; the connection is
// closed. Of the server's error only the status is told: its text may quote the request.
func (e *Edge) malformed(raw *fasthttp.RequestCtx, cause error) {
	defer e.survive(raw)
	id := e.cfg.IDs.ULID()
	raw.Response.Reset()
	raw.Response.Header.Set("X-Request-ID", id)
	err := resources.BadRequest(resources.Problem{Text: errFraming.Error()})
	status := wire.Status(err.Kind)
	var known *fiber.Error
	if errors.As(cause, &known) && (known.Code == fiber.StatusRequestHeaderFieldsTooLarge || known.Code == fiber.StatusRequestTimeout) {
		status = known.Code
	}
	send(raw, status, wire.ErrorBody("", err))
	closeAfter(raw)
	r := Record{RequestID: id, Status: status, Reason: errFraming.Error(), At: e.cfg.Now()}
	if status == wire.Status(err.Kind) {
		r.Problems = inOneLine(err.Problems)
	}
	e.observe(r)
}

// maxProblems bounds in bytes what is recorded of a request's problems.
const maxProblems = 1 << 10

// inOneLine joins problems, as many as there is room for.
func inOneLine(problems []resources.Problem) string {
	var all strings.Builder
	for i, p := range problems {
		if i > 0 {
			all.WriteString("; ")
		}
		if all.WriteString(p.String()); all.Len() > maxProblems {
			return strings.ToValidUTF8(all.String()[:maxProblems], "") + " …"
		}
	}
	return all.String()
}

func (r *Record) ended(started, now time.Time) { r.At, r.Duration = now, now.Sub(started) }

func (e *Edge) observe(r Record) {
	if e.cfg.Observe != nil {
		e.cfg.Observe(r)
	}
}

// closeAfter closes the connection after the answer: the bytes that follow can't be trusted to be
// a request.
func closeAfter(raw *fasthttp.RequestCtx) {
	raw.SetConnectionClose()
	if c, ok := raw.Conn().(*conn); ok {
		c.Linger()
	}
}

func send(raw *fasthttp.RequestCtx, status int, body []byte) {
	sendHead(raw, status)
	raw.Response.SetBody(body)
}

func sendHead(raw *fasthttp.RequestCtx, status int) {
	raw.Response.SetStatusCode(status)
	raw.Response.Header.SetContentType("application/json")
	setHeader(&raw.Response.Header, "Cache-Control", "no-store")
}

// retryAfter renders a wait in whole seconds, at least one.
func retryAfter(d time.Duration) string {
	return fmt.Sprint(max(1, int64((d+time.Second-1)/time.Second)))
}
