package gateway_test

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/test/must"
)

// served is an edge on a socket, dialled from an address of the loopback network.
type served struct {
	*gateway.Edge
	address string
	log     *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func onSocket(t *testing.T, wrap func(net.Listener) net.Listener, change func(*gateway.Limits)) *served {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &served{address: l.Addr().String(), log: &lockedBuffer{}}
	cfg := config()
	cfg.Log = slog.New(slog.NewTextHandler(s.log, nil))
	change(&cfg.Limits)
	if s.Edge, err = gateway.New(cfg); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Listen(wrap(l)) }()
	t.Cleanup(func() {
		_ = l.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}

func asItIs(l net.Listener) net.Listener { return l }

func (s *served) dial(t *testing.T, source string) net.Conn {
	t.Helper()
	c := must.Get((&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(source)}}).DialContext(t.Context(), "tcp", s.address))(t)
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	return c
}

// answered sends one request on a connection, and gives the whole answer.
func answered(t *testing.T, c net.Conn, last bool) reply {
	t.Helper()
	raw := request("POST", "/public", "")
	if last {
		raw = request("POST", "/public", "", "Connection: close")
	}
	_, _ = io.WriteString(c, raw) // it may be closed already
	all := make([]byte, 4096)
	n, err := c.Read(all)
	if n == 0 {
		t.Fatalf("no answer: %v", err)
	}
	head, body, _ := strings.Cut(string(all[:n]), "\r\n\r\n")
	r := reply{Header: http.Header{}, Body: body}
	for i, line := range strings.Split(head, "\r\n") {
		name, value, _ := strings.Cut(line, ": ")
		if i == 0 {
			r.Status = int(line[9]-'0')*100 + int(line[10]-'0')*10 + int(line[11]-'0')
			continue
		}
		r.Header.Set(name, value)
	}
	return r
}

// waitFor asks until it is so.
func waitFor(t *testing.T, title string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(title)
		}
	}
}

func (s *served) opened() int {
	open, _, _ := s.Connections()
	return open
}

// TestConnectionsAreBounded guarantees the bounds in all and from one address. Open connections go
// on, one too many gets a reason, and a closed one makes room. The log has one line of a flood.
func TestConnectionsAreBounded(t *testing.T) {
	for name, c := range map[string]struct {
		limits func(*gateway.Limits)
		status int
		code   string
	}{
		"in all":      {func(l *gateway.Limits) { l.Connections = 3 }, 503, "UNAVAILABLE"},
		"one address": {func(l *gateway.Limits) { l.PerAddress = 3 }, 429, "RATE_LIMITED"},
	} {
		t.Run(name, func(t *testing.T) {
			s := onSocket(t, asItIs, c.limits)
			var open []net.Conn
			for range 3 {
				open = append(open, s.dial(t, "127.0.0.1"))
			}
			waitFor(t, "three are not open", func() bool { return s.opened() == 3 })
			for range 20 {
				r := answered(t, s.dial(t, "127.0.0.1"), false)
				if r.Status != c.status || !strings.Contains(r.Body, `{"error":{"code":"`+c.code) || r.Header.Get("Retry-After") != "1" ||
					r.Header.Get("X-Request-ID") == "" || r.Header.Get("Connection") != "close" || r.Header.Get("Cache-Control") != "no-store" {
					t.Errorf("%+v", r)
				}
			}
			if r := answered(t, open[1], false); r.Status != 200 {
				t.Errorf("one that is open: %+v", r)
			}
			other := s.dial(t, "127.0.0.2")
			if want := map[bool]int{true: 200, false: 503}[c.status == 429]; answered(t, other, true).Status != want {
				t.Error("another address")
			}
			_ = open[0].Close()
			waitFor(t, "a closed one counts", func() bool { return s.opened() == 2 })
			if r := answered(t, s.dial(t, "127.0.0.1"), true); r.Status != 200 {
				t.Errorf("when there is room: %+v", r)
			}
			_, total, address := s.Connections()
			if n := strings.Count(s.log.String(), "connections are refused"); n != 1 || total+address < 20 {
				t.Errorf("%d and %d refused, %d lines:\n%s", total, address, n, s.log)
			}
		})
	}
}

// TestFloodOfConnectionsCostsNoGoroutines guarantees that connections without an answer are closed.
func TestFloodOfConnectionsCostsNoGoroutines(t *testing.T) {
	s := onSocket(t, asItIs, func(l *gateway.Limits) { l.Connections = 1 })
	first := s.dial(t, "127.0.0.1")
	waitFor(t, "it is not open", func() bool { return s.opened() == 1 })
	for range 500 {
		s.dial(t, "127.0.0.1")
	}
	waitFor(t, "not all were refused", func() bool { _, refused, _ := s.Connections(); return refused == 500 })
	if r := answered(t, first, true); r.Status != 200 {
		t.Errorf("the one that is open: %+v", r)
	}
	waitFor(t, "it is still counted", func() bool { return s.opened() == 0 })
	if r := answered(t, s.dial(t, "127.0.0.1"), true); r.Status != 200 {
		t.Errorf("after the flood: %+v", r)
	}
}

// failing fails to accept for a while.
type failing struct {
	net.Listener
	times int
	err   error
}

func (f *failing) Accept() (net.Conn, error) {
	if f.times > 0 {
		f.times--
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: f.err}
	}
	return f.Listener.Accept()
}

// TestWithoutFilesTheListenerGoesOn, as soon as some are free again.
func TestWithoutFilesTheListenerGoesOn(t *testing.T) {
	for _, err := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM} {
		s := onSocket(t, func(l net.Listener) net.Listener { return &failing{l, 3, err} }, func(*gateway.Limits) {})
		if r := answered(t, s.dial(t, "127.0.0.1"), true); r.Status != 200 {
			t.Errorf("after %v: %+v", err, r)
		}
		if n := strings.Count(s.log.String(), "no connection can be accepted"); n != 1 {
			t.Errorf("%d lines:\n%s", n, s.log)
		}
	}
}
