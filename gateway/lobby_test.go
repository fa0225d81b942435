package gateway_test

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portcullis-authz/portcullis/gateway"
)

// lobby is one on a socket, and what dials it.
func lobby(t *testing.T, change func(*gateway.Limits)) (l net.Listener, dial func(says string) net.Conn) {
	t.Helper()
	on, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg := config()
	change(&cfg.Limits)
	e, err := gateway.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	l = e.Lobby(on)
	t.Cleanup(func() { _ = l.Close() })
	return l, func(says string) net.Conn {
		t.Helper()
		c, err := net.Dial("tcp", on.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		_ = c.SetDeadline(time.Now().Add(30 * time.Second))
		say(t, c, says)
		return c
	}
}

func say(t *testing.T, to net.Conn, what string) {
	t.Helper()
	if _, err := io.WriteString(to, what); err != nil {
		t.Fatal(err)
	}
}

func accepted(t *testing.T, l net.Listener) net.Conn {
	t.Helper()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func unlimited(l *gateway.Limits) { l.Read = 0 }

// TestWhoSaysNothingHoldsNobodyUp: who says something is served, however many are silent; each
// as soon as there is something to read.
func TestWhoSaysNothingHoldsNobodyUp(t *testing.T) {
	l, dial := lobby(t, unlimited)
	var silent []net.Conn
	for range 10 * gateway.Newcomers {
		silent = append(silent, dial(""))
	}
	for range 3 {
		from := dial("x")
		if c := accepted(t, l); c.RemoteAddr().String() != from.LocalAddr().String() {
			t.Error("somebody else is served")
		}
	}
	say(t, silent[5], "x")
	if c := accepted(t, l); c.RemoteAddr().String() != silent[5].LocalAddr().String() {
		t.Error("somebody else is served")
	}
	_ = silent[7].Close() // which the server has to learn
	if c := accepted(t, l); c.RemoteAddr().String() != silent[7].LocalAddr().String() {
		t.Error("somebody else is served")
	}
}

// TestWhoStopsSpeakingIsWaitedForNoMore: a newcomer holds a place only while there is something
// to read of it, or to work out for it.
func TestWhoStopsSpeakingIsWaitedForNoMore(t *testing.T) {
	l, dial := lobby(t, unlimited)
	dial("GET ")
	c := accepted(t, l)
	if _, err := c.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	select {
	case <-gateway.Settled(c):
		t.Error("it is waited for no more, while it may be worked on")
	default:
	}
	go func() { _, _ = c.Read(make([]byte, 10)) }()
	select {
	case <-gateway.Settled(c):
	case <-time.After(10 * time.Second):
		t.Error("it is waited for")
	}
}

// TestWhoSaysNothingForTooLongIsServed: the server says so, as it does to others who are slow.
func TestWhoSaysNothingForTooLongIsServed(t *testing.T) {
	l, dial := lobby(t, func(l *gateway.Limits) { l.Read = 200 * time.Millisecond })
	began := time.Now()
	dial("")
	c := accepted(t, l)
	if took := time.Since(began); took < 200*time.Millisecond {
		t.Errorf("served after %s", took)
	}
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read: %v", err)
	}
}

// TestWhoSaysNothingIsClosedWithTheListener.
func TestWhoSaysNothingIsClosedWithTheListener(t *testing.T) {
	l, dial := lobby(t, unlimited)
	silent := dial("")
	dial("x")
	accepted(t, l) // the silent one is there, too
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := silent.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("it is not closed: %v", err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accept: %v", err)
	}
}

// given is a listener of connections in memory.
type given struct {
	net.Listener
	all chan net.Conn
}

func (g given) Accept() (net.Conn, error) {
	if c, ok := <-g.all; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (g given) Close() error { close(g.all); return nil }

// TestWhoSaidSomethingIsServedYet: the listener is closed after the last one who did.
func TestWhoSaidSomethingIsServedYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := gateway.New(config())
		if err != nil {
			t.Fatal(err)
		}
		on := given{all: make(chan net.Conn)}
		l := e.Lobby(on)
		for range 3 {
			near, far := net.Pipe()
			defer func() { _, _ = near.Close(), far.Close() }()
			on.all <- near
		}
		synctest.Wait()
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for range 3 {
			accepted(t, l)
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("accept: %v", err)
		}
	})
}
