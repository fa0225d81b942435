package gateway

import (
	"bytes"
	"io"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/portcullis-authz/portcullis/gateway/listen"
)

// conn is a client's connection. It splits what comes in into heads and bodies: the server gets each head up to its end
// and nothing behind it, and the edge reads the bodies. The server's own reader takes chunks refused by others: two
// servers could then see two ends of one body.
type conn struct {
	*listen.Conn
	// inside says that the client is this process.
	inside bool
	// rest came behind the last head.
	rest []byte
	// tail are the last bytes that the server got, as many as may begin a head's end.
	tail [len(headEnd) - 1]byte
	// whole says whether the server got a head to its end; size is the length of this head.
	whole bool
	size  int
	// address is the client's as text; it is empty until somebody asks for it.
	address string
	// patience bounds each write while an answer is a stream, 0 for other answers: they have the server's one deadline.
	patience time.Duration
}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	if c.patience > 0 {
		if err := c.SetWriteDeadline(time.Now().Add(c.patience)); err != nil {
			return 0, err
		}
	}
	return c.Conn.Write(p)
}

// addressOf returns the client's address as text.
func addressOf(raw *fasthttp.RequestCtx) string {
	c, ok := raw.Conn().(*conn)
	if !ok {
		return listen.PeerOf(raw.RemoteAddr()).String()
	}
	if c.address == "" {
		c.address = c.Peer().String()
	}
	return c.address
}

// isInside reports whether the client of a request is this process.
func (x *exchange) isInside() bool {
	if x.raw == nil {
		return false
	}
	c, ok := x.raw.Conn().(*conn)
	return ok && c.inside
}

const (
	// maxSizeDigits bounds the digits of a chunk's size: 16 of them are 2^64.
	maxSizeDigits = 16
	// maxExtensions bounds the chunk extensions of one body in bytes. They have no use.
	maxExtensions = 1 << 10
	// fillSize is how many bytes are read at once in search of the end of a line.
	fillSize = 4 << 10
	// headEnd ends a request's head.
	headEnd = "\r\n\r\n"
)

// give returns how many of these bytes the server gets: up to the end of a head, else all.
func (c *conn) give(p []byte) int {
	if len(p) == 0 {
		return 0
	}
	if c.whole {
		c.size = 0
	}
	var seam [2 * len(c.tail)]byte // an end may come in two pieces
	copy(seam[copy(seam[:], c.tail[:]):], p)
	end := afterHead(seam[:]) - len(c.tail)
	if end <= 0 {
		end = afterHead(p)
	}
	given := len(p)
	if c.whole = end > 0; c.whole {
		given = end
	}
	c.size += given
	if given < len(c.tail) {
		copy(c.tail[:], c.tail[given:])
	}
	copy(c.tail[max(0, len(c.tail)-given):], p[max(0, given-len(c.tail)):given])
	return given
}

// afterHead returns the index behind the end of a head, 0 without an end.
func afterHead(p []byte) int {
	if index := bytes.Index(p, []byte(headEnd)); index >= 0 {
		return index + len(headEnd)
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

// take reads the bytes behind a head.
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

// line takes a line of at most that many bytes, with its end. It is valid until the next use of the
// connection.
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

// goOn answers 100 to a client that waits for it before it sends its body.
func (c *conn) goOn(f *headers) error {
	if !f.expects || len(c.rest) > 0 {
		return nil
	}
	_, err := io.WriteString(c.Conn, "HTTP/1.1 100 Continue\r\n\r\n") // not an answer yet
	return err
}

// headOnly keeps the server from reading a body. The edge frames the body by the raw headers.
func headOnly(h *fasthttp.RequestHeader) (none fasthttp.RequestConfig) {
	if h.ContentLength() != noBody {
		h.SetContentLength(0)
	}
	h.Del(fasthttp.HeaderExpect)
	return none
}

// noBody is the server's content length of a request without a body.
const noBody = -2
