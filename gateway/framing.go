package gateway

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"
	"golang.org/x/net/http/httpguts"

	"github.com/portcullis-authz/portcullis/gateway/authn"
)

// maxHeaders bounds the number of header lines.
const maxHeaders = 100

// identityHeaders are claims about who is calling, what for, or which call it is; each
// may be sent once.
var identityHeaders = [...]string{"x-user-id", "x-account-id", "x-action", "authorization", "x-api-key", countedConsistency, "idempotency-key"}

// sentOnce is what an identity header must be.
const sentOnce = "must be sent once, in one spelling, with hyphens and without padding"

var errFraming = errors.New("the request is not well-formed HTTP/1.1 or HTTP/1.0; no other version is taken")

// headers is what one pass over the raw header lines found.
type headers struct {
	// counts are how often each of identityHeaders was sent, underscores read as hyphens.
	counts [len(identityHeaders)]uint8
	// odd says that one was spelt with an underscore or padded: not every server reads
	// such a one as the same header with the same value.
	odd [len(identityHeaders)]bool
	// values are those of the last ones, lent: of one that was sent once and is not odd, what
	// the server's parser gives, or a space and that.
	values [len(identityHeaders)][]byte
	// encoded says that a Content-Encoding was sent, expects that the client waits to be told
	// before it sends its body.
	encoded, expects bool
	// hosts and framings are how many Host, and Content-Length and Transfer-Encoding
	// headers were sent; there is one Host, and one of the others at most.
	hosts, framings int
	// length is the body's, chunked says that its chunks have to tell.
	length  int
	chunked bool
}

// bodiless says that no body comes behind the head.
func (f *headers) bodiless() bool { return f.length == 0 && !f.chunked }

// scanHeaders refuses, beyond what the server's parser refuses, every framing that
// two servers could read differently. The connection is to be closed after an error.
func scanHeaders(h *fasthttp.RequestHeader) (headers, error) {
	var found headers
	if target := h.RequestURI(); len(target) == 0 || target[0] != '/' {
		return found, errFraming // absolute-form, authority-form, asterisk-form
	}
	protocol := h.Protocol()
	old := string(protocol) == "HTTP/1.0"
	if !old && string(protocol) != "HTTP/1.1" {
		return found, errFraming
	}
	raw := h.RawHeaders()
	if old && len(raw) == 0 { // it needs no header at all
		return found, nil
	}
	if bytes.IndexByte(raw, 0) >= 0 {
		return found, errFraming
	}
	for lines := 1; len(raw) > 2; lines++ {
		end := bytes.IndexByte(raw, '\n')
		if end < 1 || bytes.IndexByte(raw, '\r') != end-1 { // by itself, either ends a line for some
			return found, errFraming
		}
		if lines > maxHeaders || !found.line(raw[:end-1]) {
			return found, errFraming
		}
		raw = raw[end+1:]
	}
	if string(raw) != "\r\n" || found.framings > 1 || found.hosts != 1 && (found.hosts != 0 || !old) {
		return found, errFraming
	}
	found.expects = found.expects && !old // who speaks 1.0 does not know what it would be told
	return found, nil
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
		f.chunked = name[8] == '-' && equalFold(bytes.Trim(value, " \t"), "chunked") // identity is no coding any more
		ok = f.chunked
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
			f.counts[i], f.values[i] = min(f.counts[i]+1, 2), value
			f.odd[i] = f.odd[i] || bytes.IndexByte(name, '_') >= 0 || oddValue(identity, value)
		}
	}
}

// oddValue says whether the value of an identity header has a form that not every server reads
// alike. An Authorization without a credential is none, however it is padded. An empty
// Idempotency-Key is odd: its client reckons with a repeat, and would make things twice.
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

// padded says whether there is more around the value than the one space that
// everybody sends after the colon.
func padded(value []byte) bool {
	value = bytes.TrimPrefix(value, []byte(" "))
	return len(value) > 0 && (isBlank(value[0]) || isBlank(value[len(value)-1]))
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// ambiguous says whether the identity header was sent more than once, or in a form
// that not every server reads alike.
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

// equalFold compares a header's name with a lower-case one; an underscore is read as
// a hyphen, since some servers do.
func equalFold(name []byte, lower string) bool {
	return len(name) == len(lower) && sameFold(name, lower) // so short that it is no call
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
