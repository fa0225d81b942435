package gateway

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"sync/atomic"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
)

// tooLarge refuses a body over the limit: 413.
func tooLarge() error {
	return &resources.Error{Kind: resources.KindTooLarge, Message: "The body is too large."}
}

// bodies bounds the memory of the bodies of all requests under way. They arrive before their sender is
// known, and a client that stops before the end holds its part until the read timeout.
type bodies struct {
	most   int64 // in bytes; 0 sets no bound
	held   atomic.Int64
	turned atomic.Uint64
}

// counting reads a body, and fails where the bodies of all requests are over their bound.
type counting struct {
	io.Reader
	bodies *bodies
	held   *int64
}

// Read implements io.Reader.
func (c counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	*c.held += int64(n)
	if held := c.bodies.held.Add(int64(n)); c.bodies.most > 0 && held > c.bodies.most {
		c.bodies.turned.Add(1)
		return n, gate.ErrFull
	}
	return n, err
}

// Bodies returns how many bytes of bodies are held, and how many requests were refused over the bound
// of all bodies.
func (e *Edge) Bodies() (held int64, refused uint64) {
	return e.bodies.held.Load(), e.bodies.turned.Load()
}

// readBody reads the body: 400, 408, 413, 503. A body over the limit is not read to its end.
func (e *Edge) readBody(x *exchange) error {
	c, ok := x.raw.Conn().(*conn)
	switch {
	case x.headers.bodiless(), x.entry.asked != nil: // it is the body of the other call
		return nil
	case !ok || x.headers.length > e.cfg.Limits.Body:
		return tooLarge()
	}
	err := c.goOn(&x.headers)
	if err == nil {
		out := bytes.NewBuffer(make([]byte, 0, len(c.rest)+bytes.MinRead)) // most bodies came along with their heads
		_, err = out.ReadFrom(io.LimitReader(counting{c.body(&x.headers, e.cfg.Limits.Body), &e.bodies, &x.bodyHeld}, int64(e.cfg.Limits.Body)+1))
		x.body = out.Bytes()
	}
	switch {
	case errors.Is(err, gate.ErrFull):
		return gate.Full()
	case errors.Is(err, errLarge):
		return tooLarge()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &resources.Error{Kind: resources.KindTooSlow, Message: "The body did not arrive in time."}
	case err != nil:
		return resources.BadRequest(resources.Problem{Text: "the body could not be read as it was announced"})
	case len(x.body) > e.cfg.Limits.Body:
		return tooLarge()
	}
	x.bodyRead = true
	return nil
}

// releaseBody ends the count of the body among those of the requests under way. A stream counts its own: it may wait for any
// time.
func (x *exchange) releaseBody() {
	x.edge.bodies.held.Add(-x.bodyHeld)
	x.bodyHeld = 0
}

// leaveBody closes the connection where the body was not read to its end: the rest would be read as
// the next request.
func (x *exchange) leaveBody() {
	if !x.bodyRead && !x.headers.bodiless() {
		closeAfter(x.raw)
	}
}

// checkMediaType refuses a body other than plain JSON, or with two types: 415.
func (e *Edge) checkMediaType(x *exchange) error {
	return doors.CheckMediaType(x, x.body, x.headers.encoded)
}

// body returns the body announced by a head, with chunks of most bytes at most. It can be read once.
func (c *conn) body(f *headers, most int) io.Reader {
	if f.chunked {
		return &chunkedBody{c: c, most: uint64(max(0, most))}
	}
	return &plainBody{c: c, remaining: f.length}
}

// plainBody is a body of a known length.
type plainBody struct {
	c         *conn
	remaining int
}

// Read implements io.Reader.
func (b *plainBody) Read(p []byte) (int, error) {
	if b.remaining == 0 {
		return 0, io.EOF
	}
	n, err := b.c.take(p[:min(len(p), b.remaining)])
	b.remaining -= n
	return n, broken(err)
}

// chunkedBody is a body in chunks (RFC 9112, 7.1) without trailers. Its lines end in CR LF and in
// nothing else.
type chunkedBody struct {
	c *conn
	// remaining is how many bytes of the chunk are to come, most how many the chunks after it may announce;
	// extensions is how many bytes of chunk extensions came.
	remaining, most uint64
	extensions      int
	ended           bool
}

// Read implements io.Reader.
func (b *chunkedBody) Read(p []byte) (n int, err error) {
	if b.remaining == 0 && !b.ended {
		err = b.next()
	}
	switch {
	case err != nil:
		return 0, broken(err)
	case b.ended:
		return 0, io.EOF
	}
	n, err = b.c.take(p[:min(uint64(len(p)), b.remaining)])
	if b.remaining -= uint64(n); err == nil && b.remaining == 0 { //nolint:gosec // n is a length
		err = b.empty()
	}
	return n, broken(err)
}

// next reads the line before a chunk. After the last chunk it reads the body's end.
func (b *chunkedBody) next() error {
	line, err := b.c.line(maxSizeDigits + maxExtensions - b.extensions + len("\r\n"))
	if err != nil {
		return err
	}
	line, ok := bytes.CutSuffix(line, []byte("\r\n"))
	size, extension, _ := bytes.Cut(line, []byte(";"))
	if !ok || len(size) > maxSizeDigits || bytes.ContainsFunc(extension, unprintable) {
		return errChunk
	}
	if b.extensions += len(extension); b.extensions > maxExtensions {
		return errChunk
	}
	if b.remaining, err = strconv.ParseUint(string(size), 16, 64); err != nil { // digits, and nothing else
		return errChunk
	}
	switch {
	case b.remaining == 0:
		b.ended = true
		return b.empty()
	case b.remaining > b.most: // its bytes may be slow, or never come
		return errLarge
	}
	b.most -= b.remaining
	return nil
}

// empty reads an empty line.
func (b *chunkedBody) empty() error {
	line, err := b.c.line(len("\r\n"))
	if err == nil && string(line) != "\r\n" {
		err = errChunk
	}
	return err
}

var (
	errChunk = errors.New("the body's chunks are not well-formed")
	errLarge = errors.New("the body's chunks announce more than the limit")
)

func unprintable(r rune) bool { return r < ' ' && r != '\t' || r > '~' }

// broken makes the end of a connection an unexpected end of the body.
func broken(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
