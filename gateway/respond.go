package gateway

import (
	"fmt"
	"net/http"

	"github.com/valyala/fasthttp"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/peer"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// throughDoor has a door answer its call; the other calls go on. From here on a door refuses by
// itself: path, headers, body, and a caller who may not ask.
func (e *Edge) throughDoor(x *exchange) error {
	if x.entry.door == nil {
		return nil
	}
	x.answered = true
	if err := e.holdAgent(x); err != nil {
		return err
	}
	call := x.doorCall()
	if problem := x.consistencyProblem(); problem != "" {
		call.Problems = []resources.Problem{{Field: headerConsistency, Text: problem}}
	}
	if x.resource != nil {
		x.findPlace(&call)
	}
	a, err := x.entry.door.Answer(x.ctx, call)
	x.held = a.Stream
	x.record.Account, x.record.Subject, x.record.Action = a.Account, a.Subject, a.Action
	x.judged(&a.Outcome)
	if err != nil {
		if x.resource != nil && len(a.Scopes) > 0 && resources.IsKind(err, resources.KindForbidden) {
			x.raw.Response.Header.Set("WWW-Authenticate", x.resource.Challenge("insufficient_scope", a.Scopes))
		}
		return err
	}
	if a.Revisions {
		x.tellRevisions(&a.Outcome)
	}
	if a.Stream != nil {
		return e.sendStream(x, &a)
	}
	send(x.raw, a.Status, a.Body)
	x.tellHeaders(a.Header)
	return nil
}

// tellHeaders adds a door's headers to the answer. The edge keeps its own.
func (x *exchange) tellHeaders(all []doors.Header) {
	h := &x.raw.Response.Header
	for _, one := range all {
		switch {
		case !peer.PassesBack(one.Name):
		case http.CanonicalHeaderKey(one.Name) == "Content-Type", http.CanonicalHeaderKey(one.Name) == "Cache-Control":
			h.Set(one.Name, one.Value)
		default:
			h.Add(one.Name, one.Value)
		}
	}
	x.keepRates()
}

// keepRates replaces the headers that a door or an upstream may have set by those of the caller's rates.
func (x *exchange) keepRates() {
	if x.rated == nil {
		return
	}
	h := &x.raw.Response.Header
	for _, name := range []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"} {
		h.Del(name)
	}
	tellRate(h, x.rated)
}

// findPlace reads the place of a call of a protected door.
func (x *exchange) findPlace(call *doors.Call) {
	var texts []string
	call.Place, texts = doors.ReadPlace(*call)
	for _, text := range texts {
		call.Problems = append(call.Problems, resources.Problem{Field: "path", Text: text})
	}
	x.lifetime.useTurnsOf(call.Place.AccountID) // a service has none of its own
}

// doorCall returns the call as a door sees it.
func (x *exchange) doorCall() doors.Call {
	call := doors.Call{
		Caller: &x.principal, Row: x.entry.Row, Rows: x.table.Index, Revision: x.table.revision, Method: x.method,
		HasQuery: x.hasQuery, Query: x.query, Headers: x, Rates: x, Streams: x, Body: x.body, Encoded: x.headers.encoded,
	}
	if n := len(x.match.Values); n > 0 {
		call.Path = x.match.Values[n-1]
	}
	return call
}

// answer serves an allowed call: a handler of this process, or an upstream.
func (e *Edge) answer(x *exchange) error {
	if x.entry.upstream != nil {
		return e.passOn(x)
	}
	return e.call(x)
}

// call runs a handler of this process, and sends its response.
func (e *Edge) call(x *exchange) error {
	if x.method == http.MethodGet && len(x.body) > 0 {
		return resources.BadRequest(resources.Problem{Field: "body", Text: "must be empty: a GET asks with its path and query"})
	}
	response, err := e.respond(x, &wire.Request{
		Principal: x.principal, Params: x.params(), Query: x.query, Body: x.body, RequestID: x.record.RequestID,
		Path: x.path, AccountID: x.account, IdempotencyKey: x.idempotencyKey(),
	})
	if err != nil {
		return err
	}
	if response.File != nil {
		sendFile(x.raw, response.Status, *response.File)
		return nil
	}
	body, err := wire.Render(response.Body)
	if err != nil {
		return fmt.Errorf("gateway: rendering the answer of %s: %w", x.entry.Route.Name, err)
	}
	send(x.raw, response.Status, body)
	return nil
}

// idempotencyKey returns the header's value; it is empty where it was not sent.
func (x *exchange) idempotencyKey() string {
	return string(x.raw.Request.Header.Peek("Idempotency-Key"))
}

// filePolicy lets a page load what this address serves, and pictures in its style sheet.
const filePolicy = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// sendFile answers with a file that a browser may show as a page. A page of this address could do
// with the API what its reader may, so it runs no code of others.
func sendFile(raw *fasthttp.RequestCtx, status int, file wire.File) {
	send(raw, status, nil)
	raw.Response.SetBodyRaw(file.Content) // shared, not copied: a client that does not read it costs no memory
	h := &raw.Response.Header
	h.SetContentType(file.ContentType)
	h.Set("Content-Security-Policy", filePolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
}

// send answers with JSON.
func send(raw *fasthttp.RequestCtx, status int, body []byte) {
	raw.Response.SetStatusCode(status)
	raw.Response.Header.SetContentType("application/json")
	raw.Response.Header.Set("Cache-Control", "no-store")
	raw.Response.SetBody(body)
}
