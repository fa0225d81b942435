package gateway

import (
	"errors"
	"io"
	"os"
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
)

var errTooLarge = &resources.Error{Kind: resources.KindTooLarge, Message: "The body is too large."}

// maxRequestID bounds a request id that is taken over from the caller.
const maxRequestID = 128

// frame refuses what is not well-formed and closes the connection after it.
func (e *Edge) frame(x *exchange) error {
	var err error
	if x.headers, err = scanHead(x.raw); err != nil {
		closeAfter(x.raw)
		return resources.BadRequest(resources.Problem{Text: err.Error()})
	}
	return nil
}

// scanHead scans the headers of a request whose head ended where the connection saw its end.
func scanHead(raw *fasthttp.RequestCtx) (headers, error) {
	h := &raw.Request.Header
	c, ok := raw.Conn().(*conn)
	switch {
	case !ok || !c.whole,
		len(h.RawHeaders()) == 0 && c.size != len(h.Method())+len(h.RequestURI())+len("  HTTP/1.0"+headEnd): // it may have ended otherwise
		return headers{}, errFraming
	}
	return scanHeaders(h)
}

// find looks the route up: 404 and 405.
func (e *Edge) find(x *exchange) error {
	m := e.routes.Load().Find(x.method, x.path, x.room.values[:0])
	switch {
	case m.Found != nil:
		x.entry, x.values = m.Found, m.Values
		x.record.Route = m.Found.Row.Name
		return nil
	case len(m.Allow) > 0:
		x.raw.Response.Header.Set("Allow", strings.Join(m.Allow, ", "))
		return &resources.Error{Kind: resources.KindMethodNotAllowed, Message: "This path has the methods " + strings.Join(m.Allow, ", ") + "."}
	default:
		return &resources.Error{Kind: resources.KindNotFound, Message: "There is nothing at this path."}
	}
}

// readBody reads the body within the limit; what is longer is not read to its end,
// and the connection is closed.
func (e *Edge) readBody(x *exchange) error {
	c, ok := x.raw.Conn().(*conn)
	switch {
	case x.headers.bodiless():
		return nil
	case !ok || x.headers.length > e.cfg.Limits.Body:
		return errTooLarge
	}
	err := c.goOn(&x.headers)
	if err == nil {
		x.body, err = io.ReadAll(io.LimitReader(counting{c.body(&x.headers), &e.bodies, &x.bodyHeld}, int64(e.cfg.Limits.Body)+1))
	}
	switch {
	case errors.Is(err, gate.ErrFull):
		return gate.Full()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &resources.Error{Kind: resources.KindTooSlow, Message: "The body did not arrive in time."}
	case err != nil:
		return resources.BadRequest(resources.Problem{Text: "the body could not be read as it was announced"})
	case len(x.body) > e.cfg.Limits.Body:
		return errTooLarge
	}
	x.bodyRead = true
	return nil
}

// leaveBody closes the connection after a refusal that did not read the body to its
// end: the rest would be read as the next request.
func (x *exchange) leaveBody() {
	if !x.bodyRead && !x.headers.bodiless() {
		closeAfter(x.raw)
	}
}

// authenticate finds out who calls; a public route asks nobody.
func (e *Edge) authenticate(x *exchange) error {
	x.principal = resources.Principal{Kind: resources.PrincipalNone, Credential: resources.CredentialNone}
	if x.entry.Public {
		return nil
	}
	for _, name := range []string{"authorization", "x-api-key"} {
		if x.headers.ambiguous(name) {
			return resources.BadRequest(resources.Problem{Field: name, Text: sentOnce})
		}
	}
	h := &x.raw.Request.Header
	principal, err := e.cfg.Authn.Authenticate(x.ctx, sent(h, "Authorization", x.room.authorization[:]...), sent(h, "X-API-Key", x.room.apiKey[:]...))
	if err != nil {
		return err
	}
	x.principal = principal
	x.record.Principal, x.record.KeyID = principal.ID, principal.KeyID
	return x.checkClaims()
}

// checkClaims holds what the caller says of itself against what is known: an account
// header that is not the path's, or another user's name, is 401 on routes that want
// them (specification, E1 and E2). What was sent twice is a 400 of a later step.
func (x *exchange) checkClaims() error {
	if !x.entry.Row.Claims {
		return nil
	}
	h := &x.raw.Request.Header
	account, user := sent(h, "X-Account-ID"), sent(h, "X-User-ID")
	var problems []resources.Problem
	if named := x.params()[paramAccount]; named == "" || len(account) == 0 || len(account) == 1 && account[0] != named {
		problems = append(problems, resources.Problem{Field: "X-Account-ID", Text: "must be sent and be the account of the path"})
	}
	if len(user) == 1 && user[0] != x.principal.ID {
		problems = append(problems, resources.Problem{Field: "X-User-ID", Text: "must be the caller"})
	}
	if len(problems) > 0 {
		return &resources.Error{
			Kind: resources.KindNoCredential, Message: "The identity headers do not fit the path and the caller.", Problems: problems,
		}
	}
	return nil
}

// checkMediaType refuses a body that is not plain JSON.
func (e *Edge) checkMediaType(x *exchange) error {
	kind, _, _ := strings.Cut(string(x.raw.Request.Header.ContentType()), ";")
	if x.headers.encoded || (len(x.body) > 0 && !strings.EqualFold(strings.TrimSpace(kind), "application/json")) {
		return &resources.Error{
			Kind: resources.KindUnsupportedMedia, Message: "A body must be application/json without a Content-Encoding.",
		}
	}
	return nil
}

// readLine reads the request line, and the request's id: the caller's, when it is
// well-formed, else a new one.
func (e *Edge) readLine(x *exchange) {
	h := &x.raw.Request.Header
	var text [2]string
	own(text[:], h.RequestURI(), sentID(h))
	x.path, x.query, x.hasQuery = splitTarget(text[0])
	if x.record.RequestID = text[1]; !ValidRequestID(text[1]) {
		x.record.RequestID = e.cfg.IDs.ULID()
	}
	x.method = ownMethod(h.Method())
	x.record.Method, x.record.Path = x.method, x.path
}

// sentID is the request's id that the caller sent, nil where it can't be one.
func sentID(h *fasthttp.RequestHeader) []byte {
	id := h.PeekCanonical([]byte("X-Request-Id"))
	if len(id) > maxRequestID {
		return nil
	}
	return id
}

func alphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// ValidRequestID says whether a request id is taken over from a caller: it matches
// ^[A-Za-z0-9._-]{1,128}$ (API contract, 1) and holds no credential, since it is passed on
// and logged.
func ValidRequestID(id string) bool {
	for i := range len(id) {
		if c := id[i]; c != '.' && c != '-' && c != '_' && !alphanumeric(c) {
			return false
		}
	}
	return id != "" && len(id) <= maxRequestID && !resources.HoldsCredential(id)
}
