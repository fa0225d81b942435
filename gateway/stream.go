package gateway

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/doors"
)

// streamPart is how many bytes of a stream are read at once.
const streamPart = 16 << 10

var errTooShort = errors.New("the stream ended before its length")

// stream is a long call. Its answer may have a content.
type stream struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	// unstop and unclose undo what waits for the ends of the server's time and of the context.
	unstop, unclose func() bool
	// leave gives the place among the streams back.
	leave func()
	conn  *conn
	watch *watch

	content io.ReadCloser
	// events says that the content is events: their client expects an end at any time.
	events bool
	// remaining is how much of the content is to come, negative if unknown.
	remaining int64
	// write bounds the last write of the answer.
	write   time.Duration
	closing sync.Once
	closed  error
	ending  sync.Once
}

// sendStream answers with a door's stream.
func (e *Edge) sendStream(x *exchange, a *doors.Answer) error {
	if _, err := x.Open(false); err != nil {
		return err
	}
	s := x.stream
	s.content, s.remaining, s.write = x.held, max(a.Length, -1), e.cfg.Limits.Write
	x.held = nil
	s.unclose = context.AfterFunc(s.ctx, func() { _ = s.closeContent() }) // ends a read under way
	var whole []byte
	inParts := a.Length >= 0 || x.raw.Request.Header.IsHTTP11()
	if !inParts {
		var err error
		if whole, err = e.readWhole(x, s); err != nil {
			return err
		}
	}
	h := &x.raw.Response.Header
	h.Set("Cache-Control", "no-store")
	x.tellHeaders(a.Header)
	x.raw.Response.SetStatusCode(a.Status)
	if !inParts {
		x.raw.Response.SetBodyRaw(whole)
		return nil
	}
	kind, _, _ := mime.ParseMediaType(string(h.ContentType()))
	s.events = kind == "text/event-stream"
	if s.conn != nil {
		s.conn.patience = s.write
	}
	x.stream = nil
	x.raw.Response.ImmediateHeaderFlush = true
	x.raw.Response.SetBodyStream(s, int(s.remaining))
	return nil
}

// dropStream ends the stream that the server has not taken.
func (x *exchange) dropStream() {
	if s := x.stream; s != nil {
		x.stream = nil
		if s.content == nil {
			s.content = x.held
		}
		x.held = nil
		_ = s.Close()
	}
	if held := x.held; held != nil {
		x.held = nil
		_ = (&stream{content: held}).closeContent()
	}
}

// Read implements io.Reader. The server reads a stream of unknown length by it, and sends each read at once.
func (s *stream) Read(p []byte) (int, error) {
	if s.remaining == 0 {
		return 0, io.EOF
	}
	if s.remaining > 0 {
		p = p[:min(int64(len(p)), s.remaining)]
	}
	n, err := s.content.Read(p)
	if s.remaining > 0 {
		s.remaining -= int64(n)
	}
	if err != nil && s.events && errors.Is(context.Cause(s.ctx), errStopping) {
		err = io.EOF
	}
	return n, err
}

// WriteTo implements io.WriterTo. The server sends a stream of known length by it; each read is sent at once.
func (s *stream) WriteTo(w io.Writer) (written int64, err error) {
	room := make([]byte, streamPart)
	for {
		n, err := s.Read(room)
		if n > 0 {
			m, failed := w.Write(room[:n])
			written += int64(m)
			if b, ok := w.(*bufio.Writer); ok && failed == nil {
				failed = b.Flush()
			}
			if failed != nil {
				return written, failed
			}
		}
		switch {
		case err == nil:
		case !errors.Is(err, io.EOF):
			return written, err
		case s.remaining > 0:
			return written, errTooShort
		default:
			return written, nil
		}
	}
}

// Close implements io.Closer. Only the connection's own server calls it, or the request: it gives the connection back
// to the server.
func (s *stream) Close() error {
	err := s.closeContent()
	s.ending.Do(func() {
		s.unstop()
		if s.unclose != nil {
			s.unclose()
		}
		s.cancel(errAnswered)
		if s.conn != nil {
			s.watch.stop()
			s.conn.patience = 0
			if s.write > 0 {
				_ = s.conn.SetWriteDeadline(time.Now().Add(s.write)) // the end of the answer is yet to be sent
			}
		}
		s.leave()
	})
	return err
}

// closeContent closes the content once.
func (s *stream) closeContent() error {
	s.closing.Do(func() {
		defer func() {
			if p := recover(); p != nil {
				s.closed = fmt.Errorf("gateway: panic: %v\n%s", p, debug.Stack())
			}
		}()
		if s.content != nil {
			s.closed = s.content.Close()
		}
	})
	return s.closed
}
