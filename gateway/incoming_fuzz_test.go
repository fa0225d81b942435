package gateway_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway"
)

// said is a connection of a client that says this, in pieces of some bytes, and goes.
type said struct {
	net.Conn
	text   string
	piece  int
	answer strings.Builder
	closed chan struct{}
}

func (c *said) Read(p []byte) (int, error) {
	if c.text == "" {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), c.piece)], c.text)
	c.text = c.text[n:]
	return n, nil
}

func (c *said) Write(p []byte) (int, error)      { return c.answer.Write(p) }
func (c *said) Close() error                     { close(c.closed); return nil }
func (c *said) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (c *said) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c *said) SetDeadline(time.Time) error      { return nil }
func (c *said) SetReadDeadline(time.Time) error  { return nil }
func (c *said) SetWriteDeadline(time.Time) error { return nil }

// callers is a listener of connections that are handed to it.
type callers struct {
	conns chan net.Conn
	done  chan struct{}
}

func (l *callers) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *callers) Close() error   { return nil }
func (l *callers) Addr() net.Addr { return &net.TCPAddr{} }

// strictChunks is the reference: a body in chunks and what is behind it; false is that it is
// none, or not all of one.
func strictChunks(text string) (body, rest string, ok bool) {
	extensions := 0
	for {
		line, after, exists := strings.Cut(text, "\r\n")
		digits, extension, _ := strings.Cut(line, ";")
		for _, c := range []byte(extension) {
			exists = exists && (c == '\t' || ' ' <= c && c <= '~')
		}
		if extensions += len(extension); !exists || extensions > 1024 || digits == "" || len(digits) > 16 {
			return "", "", false
		}
		size := uint64(0)
		for _, c := range []byte(digits) {
			value := strings.IndexByte("0123456789abcdef", c|0x20)
			if value < 0 || c < '0' {
				return "", "", false
			}
			size = size<<4 | uint64(value)
		}
		if size == 0 {
			rest, ok = strings.CutPrefix(after, "\r\n")
			return body, rest, ok
		}
		if uint64(len(after)) < size {
			return "", "", false
		}
		body += after[:size]
		if text, ok = strings.CutPrefix(after[size:], "\r\n"); !ok {
			return "", "", false
		}
	}
}

// FuzzFraming holds what becomes of a body against the reference: either the connection is
// refused, or the handler had exactly that body and the next request begins behind it.
func FuzzFraming(f *testing.F) {
	for _, body := range wrongChunks() {
		f.Add([]byte(body), 0, 7)
	}
	for _, body := range []string{"0\r\n\r\n", "5;a=b\r\nhello\r\n0;c\r\n\r\n", "A\r\n0123456789\r\n01\r\n\r\r\n000\r\n\r\n", "5\r\n0\r\n\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n"} {
		f.Add([]byte(body), 0, 1)
		f.Add([]byte(body), 0, 4096)
	}
	f.Add([]byte("hello"), 5, 1)
	f.Add([]byte("hello"), 4, 3)
	f.Add([]byte("\r\n\r\n\r\n\r\n"), 8, 2)
	e, got := bodied(f, func(c *gateway.Config) { c.Limits.Body = 4 << 10 })
	input := &callers{conns: make(chan net.Conn), done: make(chan struct{})}
	served := make(chan error, 1)
	go func() { served <- e.Listen(input) }()
	f.Cleanup(func() { close(input.done); <-served })
	f.Fuzz(func(t *testing.T, tail []byte, length, piece int) {
		head := inChunks
		body, rest, ok := strictChunks(string(tail))
		if length > 0 {
			head = request("POST", "/public", "", jsonType, fmt.Sprintf("Content-Length: %d", length))
			if ok = length <= len(tail); ok {
				body, rest = string(tail[:length]), string(tail[length:])
			}
		}
		ok = ok && len(body) <= 4<<10
		*got = nil
		next := theNext
		if !ok { // what is missing at the end of the body must not be taken from what follows it
			next = ""
		}
		c := &said{text: head + string(tail) + next, piece: max(1, piece&0xfff), closed: make(chan struct{})}
		input.conns <- c
		<-c.closed
		answer := c.answer.String()
		switch {
		case !ok && (len(*got) > 0 || !strings.HasPrefix(answer, "HTTP/1.1 4") || strings.Count(answer, "HTTP/1.1 ") != 1 || !strings.Contains(answer, "\r\nConnection: close\r\n")):
			t.Errorf("%q: %q was taken, answer %q", tail, *got, answer)
		case ok && (len(*got) == 0 || (*got)[0] != body):
			t.Errorf("%q: the handler had %q, want %q; answer %q", tail, *got, body, answer)
		case ok && rest == "" && (strings.Count(answer, "HTTP/1.1 ") != 2 || !strings.Contains(answer, "X-Request-Id: the-next")):
			t.Errorf("%q: the next request had no answer: %q", tail, answer)
		}
	})
}
