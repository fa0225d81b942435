package gateway

import (
	"errors"
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// refuse answers with an error in the shape of the route's area. A door without a verdict has a body of its own.
func (e *Edge) refuse(x *exchange, err error) {
	domain := x.record.failed(err)
	h := &x.raw.Response.Header
	switch domain.Kind {
	case resources.KindNoCredential, resources.KindBadCredential:
		h.Set("WWW-Authenticate", x.challenge(domain.Kind))
	case resources.KindUnavailable, resources.KindRateLimited:
		h.Set("Retry-After", retryAfter(domain.RetryAfter))
	}
	area := ""
	if x.entry != nil {
		area = x.entry.Route.Area
		if door, ok := x.entry.door.(doors.OwnUnavailable); ok && domain.Kind == resources.KindUnavailable {
			send(x.raw, wire.Status(domain.Kind), door.Unavailable(err))
			return
		}
	}
	send(x.raw, wire.Status(domain.Kind), wire.ErrorBody(area, domain))
}

// challenge returns the WWW-Authenticate of a call without a good credential.
func (x *exchange) challenge(kind resources.Kind) string {
	switch {
	case x.resource == nil:
		return "Bearer"
	case kind == resources.KindNoCredential:
		return x.resource.Challenge("", x.resource.Scopes)
	}
	return x.resource.Challenge("invalid_token", x.resource.Scopes)
}

// failed records an error that is the answer, and returns it as one of the domain.
func (r *Record) failed(err error) *resources.Error {
	domain := resources.AsError(err)
	r.Err, r.Unauthorized = loggable(err, domain), authn.ReasonOf(err)
	if r.Reason == "" { // no decision was reached
		r.Reason = domain.Message
	}
	if domain.Kind == resources.KindBadRequest {
		r.Problems = inOneLine(domain.Problems)
	}
	return domain
}

// loggable returns the error of a request for the log, nil for one that says nothing more than its
// answer.
func loggable(err error, domain *resources.Error) error {
	full := errors.Is(err, gate.ErrFull) // a refusal under load is not worth a line
	if !full && (domain.Kind == resources.KindInternal || domain.Kind == resources.KindUnavailable || domain.Cause != nil) {
		return err
	}
	return nil
}

// malformed answers bytes that are not a request, and closes the connection. It passes on only the status of the
// server's error, since the text may quote the request.
func (e *Edge) malformed(raw *fasthttp.RequestCtx, cause error) {
	defer e.survive(raw)
	id := e.cfg.IDs.ULID()
	raw.Response.Reset()
	raw.Response.Header.Set("X-Request-ID", id)
	err := resources.BadRequest(resources.Problem{Text: errFraming.Error()})
	r := Record{RequestID: id, Status: wire.Status(err.Kind), Reason: errFraming.Error(), Problems: inOneLine(err.Problems), At: e.cfg.Now()}
	if status, reason := unread(cause); status != 0 {
		err = &resources.Error{Kind: resources.KindBadRequest, Message: reason}
		r.Status, r.Reason, r.Problems = status, reason, ""
	}
	send(raw, r.Status, wire.ErrorBody("", err))
	closeAfter(raw)
	e.observe(r)
}

// unread returns the status and the reason of a head that the server has not read to its end, 0 for any other error.
func unread(cause error) (status int, reason string) {
	var refusal *fiber.Error
	switch {
	case !errors.As(cause, &refusal):
	case refusal.Code == fiber.StatusRequestTimeout:
		return refusal.Code, "The request did not arrive in time."
	case refusal.Code == fiber.StatusRequestHeaderFieldsTooLarge:
		return refusal.Code, "The request line and the headers are too large."
	}
	return 0, ""
}

// retryAfter renders a wait in whole seconds, at least one.
func retryAfter(d time.Duration) string {
	return fmt.Sprint(max(1, int64((d+time.Second-1)/time.Second)))
}

// closeAfter closes the connection after the answer: the bytes that follow may be no request.
func closeAfter(raw *fasthttp.RequestCtx) {
	raw.SetConnectionClose()
	if c, ok := raw.Conn().(*conn); ok {
		c.Linger()
	}
}
