package load_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// client sends requests on open connections, one at a time on each. One goroutine takes the connections in turn, so
// that the client does little besides the two system calls of each request. It never sleeps: the kernel charges a
// server for waking a sleeping client, and only slow servers would pay for it.
type client struct {
	// render writes the question as a request.
	render func(out []byte, q *question) []byte
	// yes is the text of an answer that allows, and of no other; with "" the client does not check answers.
	yes []byte
	// observe, unless nil, is called with the time of each answer.
	observe func(time.Duration)
	conns   []*conn
	out     []byte
}

// conn has at most one request under way.
type conn struct {
	// fd is the non-blocking socket.
	fd       int
	buffer   []byte
	sent     time.Time
	question question
	// busy: a request is under way. done: this window sends no more on the connection.
	busy, done bool
}

// result is the result of a window of requests.
type result struct {
	requests int
	// refused counts answers with another status than 200.
	refused int
	took    time.Duration
}

func newClient(b *testing.B, address string, render func([]byte, *question) []byte, yes string) *client {
	b.Helper()
	c := &client{render: render, yes: []byte(yes)}
	for range *connections {
		fd, err := dial(address)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = syscall.Close(fd) })
		c.conns = append(c.conns, &conn{fd: fd, buffer: make([]byte, 0, 64<<10)})
	}
	return c
}

// dial opens a connection outside Go's runtime, which would make the goroutine sleep on it.
func dial(address string) (int, error) {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return 0, err
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	err = errors.Join(syscall.Connect(fd, &syscall.SockaddrInet4{Port: int(target.Port()), Addr: target.Addr().As4()}),
		syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1), syscall.SetNonblock(fd, true))
	return fd, err
}

// patience bounds the wait for an answer.
const patience = 20 * time.Second

// read polls the socket until it has data.
func (n *conn) read(buffer []byte) (int, error) {
	for {
		got, err := syscall.Read(n.fd, buffer)
		switch {
		case err == nil && got == 0:
			return 0, io.ErrUnexpectedEOF
		case err == nil:
			return got, nil
		case err != syscall.EAGAIN && err != syscall.EINTR:
			return 0, err
		case time.Since(n.sent) > patience:
			return 0, fmt.Errorf("no answer within %s", patience)
		}
	}
}

// run sends questions on the first connections until enough returns true, and then receives the outstanding answers.
func (c *client) run(connections int, next stream, enough func(asked int, now time.Time) bool) (result, error) {
	var h result
	began := time.Now()
	for _, n := range c.conns {
		n.done = false
	}
	asked, open := 0, connections
	for i := 0; open > 0; i = (i + 1) % connections {
		n := c.conns[i]
		if n.done {
			continue
		}
		if n.busy {
			if err := c.receive(n, &h); err != nil {
				return h, fmt.Errorf("%s: %w", n.question, err)
			}
		}
		if n.done = enough(asked, time.Now()); n.done {
			open--
			continue
		}
		if err := c.send(n, next()); err != nil {
			return h, err
		}
		asked++
	}
	h.took = time.Since(began)
	return h, nil
}

func (c *client) send(n *conn, q question) error {
	n.question, n.busy, n.sent = q, true, time.Now()
	c.out = c.render(c.out[:0], &n.question)
	if sent, err := syscall.Write(n.fd, c.out); err != nil || sent < len(c.out) { // the buffer of an idle connection is empty, so the write is whole
		return fmt.Errorf("%d of %d bytes sent: %w", sent, len(c.out), err)
	}
	return nil
}

func (c *client) receive(n *conn, h *result) error {
	status, body, err := n.answer()
	if err != nil {
		return err
	}
	n.busy = false
	h.requests++
	if c.observe != nil {
		c.observe(time.Since(n.sent))
	}
	switch {
	case status != "200":
		h.refused++
	case len(c.yes) > 0 && !n.question.agrees(body, c.yes):
		return fmt.Errorf("the answer is %s, want allowed: %t", body, n.question.allowed)
	}
	return nil
}

var (
	headEnd   = []byte("\r\n\r\n")
	lengthKey = []byte("\r\nContent-Length: ")
)

// answer reads one answer with a Content-Length.
func (n *conn) answer() (status string, body []byte, err error) {
	n.buffer = n.buffer[:0]
	head, whole := -1, 0
	for head < 0 || len(n.buffer) < whole {
		got, err := n.read(n.buffer[len(n.buffer):cap(n.buffer)])
		if err != nil {
			return "", nil, err
		}
		n.buffer = n.buffer[:len(n.buffer)+got]
		if head >= 0 {
			continue
		}
		if head = bytes.Index(n.buffer, headEnd); head >= 0 {
			_, value, _ := bytes.Cut(n.buffer[:head+2], lengthKey)
			value, _, _ = bytes.Cut(value, headEnd[:2])
			length, err := strconv.Atoi(string(value))
			if whole = head + len(headEnd) + length; err != nil || whole > cap(n.buffer) {
				return "", nil, fmt.Errorf("no valid Content-Length: %q", n.buffer)
			}
		}
	}
	return string(n.buffer[9:12]), n.buffer[head+len(headEnd):], nil
}
