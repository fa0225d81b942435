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

// client asks a server on connections that stay open, one request at a time on each. It is
// one goroutine that takes the connections in turn, so it does little beside the two system
// calls of each request. It never sleeps: the kernel has a server pay for waking who sleeps
// for its answer, which a fast server would be spared and a slow one not.
type client struct {
	// render writes the question as a request.
	render func(to []byte, q *question) []byte
	// yes is what the answer holds if and only if it allows; "" has no answer looked at.
	yes []byte
	// tell is told how long each answer took; nil is told nothing.
	tell  func(time.Duration)
	conns []*conn
	out   []byte
}

// conn has at most one request under way.
type conn struct {
	// fd is the socket, on which nothing waits.
	fd   int
	in   []byte
	sent time.Time
	what question
	// busy says that a request is under way, left that no other follows in this window.
	busy, left bool
}

// heard is what a window of requests came to.
type heard struct {
	requests int
	// refused are answers of another status than 200: no decision was made.
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
		c.conns = append(c.conns, &conn{fd: fd, in: make([]byte, 0, 64<<10)})
	}
	return c
}

// dial opens a connection that the runtime knows nothing of: it would wait for it.
func dial(address string) (int, error) {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return 0, err
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	err = errors.Join(syscall.Connect(fd, &syscall.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().As4()}),
		syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1), syscall.SetNonblock(fd, true))
	return fd, err
}

// patience is how long an answer may take.
const patience = 20 * time.Second

// read asks until there is something.
func (n *conn) read(into []byte) (int, error) {
	for {
		got, err := syscall.Read(n.fd, into)
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

// run asks on the first connections until enough says so, and waits for what is under way.
func (c *client) run(connections int, next stream, enough func(asked int, now time.Time) bool) (heard, error) {
	var h heard
	began := time.Now()
	for _, n := range c.conns {
		n.left = false
	}
	asked, open := 0, connections
	for i := 0; open > 0; i = (i + 1) % connections {
		n := c.conns[i]
		if n.left {
			continue
		}
		if n.busy {
			if err := c.receive(n, &h); err != nil {
				return h, fmt.Errorf("%s: %w", n.what, err)
			}
		}
		if n.left = enough(asked, time.Now()); n.left {
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
	n.what, n.busy, n.sent = q, true, time.Now()
	c.out = c.render(c.out[:0], &n.what)
	if sent, err := syscall.Write(n.fd, c.out); err != nil || sent < len(c.out) { // of an idle connection the buffer is empty
		return fmt.Errorf("%d of %d bytes sent: %w", sent, len(c.out), err)
	}
	return nil
}

func (c *client) receive(n *conn, h *heard) error {
	status, body, err := n.answer()
	if err != nil {
		return err
	}
	n.busy = false
	h.requests++
	if c.tell != nil {
		c.tell(time.Since(n.sent))
	}
	switch {
	case status != "200":
		h.refused++
	case len(c.yes) > 0 && !n.what.agrees(body, c.yes):
		return fmt.Errorf("the answer is %s, want allowed: %t", body, n.what.allowed)
	}
	return nil
}

var (
	headEnd   = []byte("\r\n\r\n")
	lengthKey = []byte("\r\nContent-Length: ")
)

// answer reads one answer, which has to tell its length.
func (n *conn) answer() (status string, body []byte, err error) {
	n.in = n.in[:0]
	head, whole := -1, 0
	for head < 0 || len(n.in) < whole {
		got, err := n.read(n.in[len(n.in):cap(n.in)])
		if err != nil {
			return "", nil, err
		}
		n.in = n.in[:len(n.in)+got]
		if head >= 0 {
			continue
		}
		if head = bytes.Index(n.in, headEnd); head >= 0 {
			_, value, _ := bytes.Cut(n.in[:head+2], lengthKey)
			value, _, _ = bytes.Cut(value, headEnd[:2])
			length, err := strconv.Atoi(string(value))
			if whole = head + len(headEnd) + length; err != nil || whole > cap(n.in) {
				return "", nil, fmt.Errorf("no length that can be read: %q", n.in)
			}
		}
	}
	return string(n.in[9:12]), n.in[head+len(headEnd):], nil
}
