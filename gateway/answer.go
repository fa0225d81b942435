package gateway

import (
	"fmt"
	"net/http"

	"github.com/valyala/fasthttp"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// answer serves an allowed request: E3 by itself, a handler of this process, or an
// upstream.
func (e *Edge) answer(x *exchange) error {
	switch {
	case x.entry.answers:
		return e.decide(x)
	case x.entry.proxy != nil:
		return e.passOn(x)
	default:
		return e.call(x)
	}
}

// call runs a handler of this process.
func (e *Edge) call(x *exchange) error {
	if x.method == http.MethodGet && len(x.body) > 0 {
		return resources.BadRequest(resources.Problem{Field: "body", Text: "must be empty: a GET asks with its path and query"})
	}
	response, err := x.entry.handler(x.ctx, &wire.Request{
		Principal: x.principal, Params: x.params(), Query: x.query, Body: x.body, RequestID: x.record.RequestID,
		Path: x.path, AccountID: x.ask.account, IdempotencyKey: x.idempotencyKey(),
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
		return fmt.Errorf("gateway: rendering the answer of %s: %w", x.entry.Name, err)
	}
	send(x.raw, response.Status, body)
	return nil
}

// idempotencyKey is the header's value, "" where it was not sent.
func (x *exchange) idempotencyKey() string {
	return string(x.raw.Request.Header.Peek("Idempotency-Key"))
}

// filePolicy is what a page may load: everything from here, and pictures that are
// written into its style sheet.
const filePolicy = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// sendFile answers with what a browser may show as a page: on its address it could do
// with the API what its reader may.
func sendFile(raw *fasthttp.RequestCtx, status int, file wire.File) {
	send(raw, status, nil)
	raw.Response.SetBodyRaw(file.Content) // shared, not copied: who does not read it costs no memory
	h := &raw.Response.Header
	h.SetContentType(file.ContentType)
	h.Set("Content-Security-Policy", filePolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
}
