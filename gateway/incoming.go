package gateway

import (
	"bytes"
	"errors"
	"io"
	"strconv"

	"github.com/valyala/fasthttp"
)

const (
	// maxSizeDigits bounds a chunk's size as it is written: 16 digits are 2^64.
	maxSizeDigits = 16
	// maxExtensions bounds the chunk extensions of one body in bytes: nobody reads them.
	maxExtensions = 1 << 10
	// fillSize is how much is received at once where the end of a line is looked for.
	fillSize = 4 << 10
	// headEnd ends a request's head.
	headEnd = "\r\n\r\n"
)

var errChunk = errors.New("the body's chunks are not well-formed")

// incoming splits what comes on a connection: the server is given heads, each of them up to its
// end and nothing behind it, and bodies are read here. The server reads chunks more freely than
// others do, so that two servers could see two ends of one body.
type incoming struct {
	// rest came behind the head that the server was given last.
	rest []byte
	// tail are the last bytes that the server was given, as many as may begin a head's end.
	tail [len(headEnd) - 1]byte
	// whole says that what the server was given last ended a head, size how long that was.
	whole bool
	size  int
}

// give says how many of these bytes the server is given: up to the end of a head, else all.
func (in *incoming) give(p []byte) int {
	if len(p) == 0 {
		return 0
	}
	if in.whole {
		in.size = 0
	}
	var seam [2 * len(in.tail)]byte // an end may come in two pieces
	copy(seam[copy(seam[:], in.tail[:]):], p)
	end := afterHead(seam[:]) - len(in.tail)
	if end <= 0 {
		end = afterHead(p)
	}
	given := len(p)
	if in.whole = end > 0; in.whole {
		given = end
	}
	in.size += given
	if given < len(in.tail) {
		copy(in.tail[:], in.tail[given:])
	}
	copy(in.tail[max(0, len(in.tail)-given):], p[max(0, given-len(in.tail)):given])
	return given
}

// afterHead is where the end of a head ends, 0 where there is none.
func afterHead(p []byte) int {
	if at := bytes.Index(p, []byte(headEnd)); at >= 0 {
		return at + len(headEnd)
	}
	return 0
}

// Read implements net.Conn. The server reads heads from it.
func (c *conn) Read(p []byte) (int, error) {
	if len(c.rest) > 0 {
		n := c.give(c.rest[:min(len(p), len(c.rest))])
		return c.take(p[:n])
	}
	n, err := c.Conn.Read(p)
	given := c.give(p[:n])
	if given < n {
		c.rest, err = bytes.Clone(p[given:n]), nil // the next one to receive has the error again
	}
	return given, err
}

// take reads what comes behind a head.
func (c *conn) take(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return c.Conn.Read(p)
	}
	n := copy(p, c.rest)
	if c.rest = c.rest[n:]; len(c.rest) == 0 {
		c.rest = nil // what it lay in may be large
	}
	return n, nil
}

// line takes a line with its end, which is in so many bytes or nowhere. It is valid until the
// next use of the connection.
func (c *conn) line(most int) ([]byte, error) {
	for {
		if end := bytes.IndexByte(c.rest, '\n') + 1; end > 0 && end <= most {
			line := c.rest[:end]
			c.rest = c.rest[end:]
			return line, nil
		}
		if cr := bytes.IndexByte(c.rest, '\r'); len(c.rest) >= most || cr >= 0 && cr < len(c.rest)-1 {
			return nil, errChunk
		}
		var room [fillSize]byte
		n, err := c.Conn.Read(room[:])
		if c.rest = append(c.rest, room[:n]...); n == 0 && err != nil {
			return nil, err
		}
	}
}

// plainBody is a body of a known length.
type plainBody struct {
	c    *conn
	left int
}

// Read implements io.Reader.
func (b *plainBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	n, err := b.c.take(p[:min(len(p), b.left)])
	b.left -= n
	return n, broken(err)
}

// chunkedBody is a body in chunks (RFC 9112, 7.1), which has no trailers, and lines that end in
// CR LF and in nothing else.
type chunkedBody struct {
	c *conn
	// left is what is to come of a chunk, extensions how many bytes of them came.
	left       uint64
	extensions int
	ended      bool
}

// Read implements io.Reader.
func (b *chunkedBody) Read(p []byte) (n int, err error) {
	if b.left == 0 && !b.ended {
		err = b.next()
	}
	switch {
	case err != nil:
		return 0, broken(err)
	case b.ended:
		return 0, io.EOF
	}
	n, err = b.c.take(p[:min(uint64(len(p)), b.left)])
	if b.left -= uint64(n); err == nil && b.left == 0 { //nolint:gosec // n is a length
		err = b.empty()
	}
	return n, broken(err)
}

// next reads the line before a chunk; after the last one it is the body's end.
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
	if b.left, err = strconv.ParseUint(string(size), 16, 64); err != nil { // digits, and nothing else
		return errChunk
	}
	if b.left == 0 {
		b.ended = true
		return b.empty()
	}
	return nil
}

// empty reads the end of a line, and nothing in front of it.
func (b *chunkedBody) empty() error {
	line, err := b.c.line(len("\r\n"))
	if err == nil && string(line) != "\r\n" {
		err = errChunk
	}
	return err
}

func unprintable(r rune) bool { return r < ' ' && r != '\t' || r > '~' }

// broken says of the end of a connection that it is not the body's.
func broken(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// body is the body that a head announces; it may be read once.
func (c *conn) body(f *headers) io.Reader {
	if f.chunked {
		return &chunkedBody{c: c}
	}
	return &plainBody{c: c, left: f.length}
}

// goOn tells a client that waits for it before it sends its body to do so.
func (c *conn) goOn(f *headers) error {
	if !f.expects || len(c.rest) > 0 {
		return nil
	}
	_, err := io.WriteString(c.Conn, "HTTP/1.1 100 Continue\r\n\r\n") // which is no answer
	return err
}

// headOnly has the server read no body, and promise none: what frames it is in the raw headers.
func headOnly(h *fasthttp.RequestHeader) (none fasthttp.RequestConfig) {
	if h.ContentLength() != noBody {
		h.SetContentLength(0)
	}
	h.Del(fasthttp.HeaderExpect)
	return none
}

// noBody is the server's length of a request that has none.
const noBody = -2
