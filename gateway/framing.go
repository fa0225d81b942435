package gateway

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"
	"golang.org/x/net/http/httpguts"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/resources"
)

// maxHeaders bounds the number of header lines.
const maxHeaders = 100

// identityHeaders are the claims of a request: its caller, its account and action, its credential and its id. Each may
// be sent once.
var identityHeaders = [...]string{"x-user-id", "x-account-id", "x-action", "authorization", "x-api-key", countedConsistency, "idempotency-key"}

// sentOnce is what an identity header must be.
const sentOnce = "must be sent once, in one spelling, with hyphens and without padding"

var errFraming = errors.New("the request is not well-formed HTTP/1.1 or HTTP/1.0; no other version is taken")

// headers is the result of one pass over the raw header lines.
type headers struct {
	// counts are how often each of identityHeaders was sent, underscores read as hyphens.
	counts [len(identityHeaders)]uint8
	// odd marks those in a form that servers read differently.
	odd [len(identityHeaders)]bool
	// encoded says whether a Content-Encoding was sent; expects says whether the client waits for a 100 before it sends
	// its body.
	encoded, expects bool
	// closes says that the client sends no further request.
	closes bool
	// hosts counts Host headers; framings counts Content-Length and Transfer-Encoding headers.
	hosts, framings int
	// length is the body's in bytes; chunked says that its chunks have the length.
	length  int
	chunked bool
}

// bodiless says that no body follows the head.
func (f *headers) bodiless() bool { return f.length == 0 && !f.chunked }

// frame refuses a request that is not well-formed and closes the connection: 400.
func (e *Edge) frame(x *exchange) error {
	var err error
	if x.headers, err = scanHead(x.raw); err != nil {
		closeAfter(x.raw)
		return resources.BadRequest(resources.Problem{Text: err.Error()})
	}
	if x.headers.closes {
		x.raw.SetConnectionClose() // the server reads the option in one spelling alone
	}
	if host := x.raw.Request.Header.Host(); x.headers.hosts > 0 {
		if _, ok := route.ParseHost(string(host)); !ok { // some server would take it for another one
			closeAfter(x.raw)
			return resources.BadRequest(resources.Problem{Field: "Host", Text: route.HostRule})
		}
	}
	return nil
}

// scanHead scans the headers. It refuses a head whose end the server and the connection saw in
// different places.
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

// scanHeaders refuses every framing that two servers could read differently, beyond what the server's
// parser refuses.
func scanHeaders(h *fasthttp.RequestHeader) (headers, error) {
	var result headers
	if target := h.RequestURI(); len(target) == 0 || target[0] != '/' {
		return result, errFraming // absolute-form, authority-form, asterisk-form
	}
	protocol := h.Protocol()
	old := string(protocol) == "HTTP/1.0"
	if !old && string(protocol) != "HTTP/1.1" {
		return result, errFraming
	}
	raw := h.RawHeaders()
	if old && len(raw) == 0 { // it needs no header at all
		return result, nil
	}
	if bytes.IndexByte(raw, 0) >= 0 {
		return result, errFraming
	}
	for lines := 1; len(raw) > 2; lines++ {
		end := bytes.IndexByte(raw, '\n')
		if end < 1 || bytes.IndexByte(raw, '\r') != end-1 { // by itself, either ends a line for some
			return result, errFraming
		}
		if lines > maxHeaders || !result.line(raw[:end-1]) {
			return result, errFraming
		}
		raw = raw[end+1:]
	}
	if string(raw) != "\r\n" || result.framings > 1 || result.hosts != 1 && (result.hosts != 0 || !old) {
		return result, errFraming
	}
	result.expects = result.expects && !old // a client of HTTP/1.0 does not know the 100
	return result, nil
}

// line takes one header line; false is a line that two servers could read differently.
func (f *headers) line(line []byte) bool {
	colon := bytes.IndexByte(line, ':')
	if colon < 0 {
		return false
	}
	name, value, ok := line[:colon], line[colon+1:], true
	if !httpguts.ValidHeaderFieldName(string(name)) {
		return false // a folded line has no token before a colon
	}
	switch {
	case equalFold(name, "host"):
		f.hosts++
	case equalFold(name, "content-length"):
		f.framings++
		ok = name[7] == '-' && f.setLength(value) // some servers frame by an underscore too
	case equalFold(name, "transfer-encoding"):
		f.framings++
		f.chunked = name[8] == '-' && equalFold(bytes.Trim(value, " \t"), "chunked") // the coding identity is obsolete
		ok = f.chunked
	case equalFold(name, "connection"):
		f.closes = f.closes || httpguts.HeaderValuesContainsToken([]string{string(value)}, "close")
	case equalFold(name, "trailer"):
		ok = false
	case equalFold(name, "content-encoding"):
		f.encoded = true
	case equalFold(name, "expect"):
		f.expects = equalFold(bytes.Trim(value, " \t"), "100-continue")
	}
	f.count(name, value)
	return ok
}

// setLength takes the length of the body; false is that it is none.
func (f *headers) setLength(value []byte) bool {
	length, err := strconv.ParseUint(string(bytes.Trim(value, " \t")), 10, strconv.IntSize-1)
	f.length = int(length) // it has a bit less than an int
	return err == nil
}

// count notes an identity header.
func (f *headers) count(name, value []byte) {
	for i, identity := range identityHeaders {
		if equalFold(name, identity) {
			f.counts[i] = min(f.counts[i]+1, 2)
			f.odd[i] = f.odd[i] || bytes.IndexByte(name, '_') >= 0 || oddValue(identity, value)
		}
	}
}

// oddValue says whether the value of an identity header has a form that not every server reads alike.
// An Authorization without a credential counts as none. An empty Idempotency-Key is odd: its client
// expects a repeat to be recognized, and it would not be.
func oddValue(identity string, value []byte) bool {
	switch identity {
	case "authorization":
		return padded(value) && !authn.HoldsNothing(string(value))
	case "idempotency-key":
		return padded(value) || len(bytes.TrimSpace(value)) == 0
	default:
		return padded(value)
	}
}

// padded says whether the value has blanks around it beyond the one space after the colon.
func padded(value []byte) bool {
	value = bytes.TrimPrefix(value, []byte(" "))
	return len(value) > 0 && (isBlank(value[0]) || isBlank(value[len(value)-1]))
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// ambiguous says whether the identity header was sent more than once, or in a form that not every
// server reads alike.
func (f *headers) ambiguous(name string) bool {
	for i, identity := range identityHeaders {
		if strings.EqualFold(identity, name) {
			return f.counts[i] > 1 || f.odd[i]
		}
	}
	return false
}

// Identity implements doors.Headers.
func (x *exchange) Identity(name string) (value, problem string) {
	if x.headers.ambiguous(name) {
		problem = sentOnce
	}
	return string(x.raw.Request.Header.Peek(name)), problem
}

// Values implements doors.Headers.
func (x *exchange) Values(name string) (values []string, odd bool) {
	lower := strings.ToLower(name)
	for line := range bytes.SplitSeq(x.raw.Request.Header.RawHeaders(), []byte("\r\n")) { // the parser keeps one of some headers
		key, value, _ := bytes.Cut(line, []byte(":"))
		if equalFold(key, lower) {
			values = append(values, string(bytes.Trim(value, " \t")))
			odd = odd || bytes.IndexByte(key, '_') >= 0
		}
	}
	return values, odd
}

// equalFold compares a header's name with a lower-case one. It reads an underscore as a hyphen, since
// some servers do.
func equalFold(name []byte, lower string) bool {
	return len(name) == len(lower) && sameFold(name, lower) // short enough for the compiler to inline it
}

func sameFold(name []byte, lower string) bool {
	for i, c := range name {
		want := lower[i]
		if c != want && (c != want-('a'-'A') || want < 'a') && (c != '_' || want != '-') {
			return false
		}
	}
	return true
}
