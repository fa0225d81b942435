package listen_test

import (
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/listen"
	"github.com/portcullis-authz/portcullis/resources"
)

// accepting is a listener with one connection.
type accepting struct{ c net.Conn }

func (a accepting) Accept() (net.Conn, error) { return a.c, nil }
func (accepting) Close() error                { return nil }
func (accepting) Addr() net.Addr              { return &net.TCPAddr{} }

// drained returns the connection of a server that is shutting down.
func drained(t *testing.T, c net.Conn) net.Conn {
	t.Helper()
	bounds := listen.NewBounds(1, 1, resources.IDs{}, slog.New(slog.DiscardHandler))
	bounds.Drain()
	counted, err := bounds.Listener(accepting{c}, nil).Accept()
	if err != nil {
		t.Fatal(err)
	}
	return counted
}

// ends returns how long a read waits until its deadline.
func ends(t *testing.T, do func([]byte) (int, error)) time.Duration {
	t.Helper()
	began := time.Now()
	if n, err := do(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || n != 0 {
		t.Errorf("%d bytes, %v", n, err)
	}
	return time.Since(began)
}

// TestReadRequestIsAnswered guarantees that a connection closed as idle by the server stays open until the response is
// sent, or for five seconds.
func TestReadRequestIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner, peer := net.Pipe()
		conn := drained(t, inner)
		go func() {
			_, _ = peer.Write([]byte("ask"))
			answer := make([]byte, 2)
			if _, err := io.ReadFull(peer, answer); err != nil || string(answer) != "ok" {
				t.Errorf("answered %q, %v", answer, err)
			}
			if n, err := peer.Read(answer); err != io.EOF { //nolint:errorlint // of a pipe it is that very error
				t.Errorf("then %d bytes, %v", n, err)
			}
		}()
		if n, err := conn.Read(make([]byte, 3)); n != 3 || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
		must(t, conn.Close()) // from outside
		if n, err := conn.Write([]byte("ok")); n != 2 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		must(t, conn.Close())
		synctest.Wait()
	})
	synctest.Test(t, func(t *testing.T) {
		inner, peer := net.Pipe()
		conn := drained(t, inner)
		go func() { _, _ = peer.Write([]byte("as")) }()
		_, _ = conn.Read(make([]byte, 3))
		must(t, conn.Close())
		began := time.Now()
		if _, err := peer.Read(make([]byte, 1)); err == nil || time.Since(began) != 5*time.Second {
			t.Errorf("without a response the connection ended after %s: %v", time.Since(began), err)
		}
	})
}

// TestIdleConnectionIsClosedAtOnce when the server shuts down.
func TestIdleConnectionIsClosedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner, peer := net.Pipe()
		bounds, conn := accepted(t, inner)
		go func() {
			_, _ = peer.Write([]byte("a"))
			_, _ = peer.Read(make([]byte, 1))
			bounds.Drain()
			time.Sleep(time.Minute)
			must(t, conn.Close())
		}()
		_, err := conn.Read(make([]byte, 1))
		must(t, err)
		_, err = conn.Write([]byte("b"))
		must(t, err)
		if got := ends(t, conn.Read); got != time.Minute {
			t.Errorf("it waited for %s", got)
		}
		must(t, conn.Close())
		if _, err := peer.Read(make([]byte, 1)); err == nil {
			t.Error("it is open")
		}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// accepted returns a connection before its first byte, and the bounds it counts in.
func accepted(t *testing.T, c net.Conn) (*listen.Bounds, net.Conn) {
	t.Helper()
	bounds := listen.NewBounds(1, 1, resources.IDs{}, slog.New(slog.DiscardHandler))
	counted, err := bounds.Listener(accepting{c}, nil).Accept()
	if err != nil {
		t.Fatal(err)
	}
	must(t, counted.SetReadDeadline(time.Now().Add(time.Hour)))
	return bounds, counted
}

// TestUnusedConnectionHoldsUpNoStop: a second after the shutdown has begun it is at its end, as if its client had
// closed it. One on which a request begins meanwhile has five seconds more.
func TestUnusedConnectionHoldsUpNoStop(t *testing.T) {
	for name, c := range map[string]struct {
		sendsAfter, readsUntil time.Duration
		err                    error
	}{
		"unused": {2 * time.Second, time.Second, io.EOF},
		"used":   {time.Second / 2, time.Second/2 + 5*time.Second, os.ErrDeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inner, peer := net.Pipe()
				bounds, conn := accepted(t, inner)
				var client sync.WaitGroup
				client.Go(func() {
					time.Sleep(c.sendsAfter)
					_, _ = peer.Write([]byte("ask"))
				})
				bounds.Drain()
				must(t, conn.SetReadDeadline(time.Now().Add(time.Hour))) // by a server that begins with it now
				began := time.Now()
				n, err := conn.Read(make([]byte, 3))
				if n == 3 {
					_, err = conn.Read(make([]byte, 3))
				}
				if waited := time.Since(began); waited != c.readsUntil || !errors.Is(err, c.err) {
					t.Errorf("it was read for %s: %v", waited, err)
				}
				must(t, conn.Close())
				must(t, conn.Close())
				client.Wait()
			})
		})
	}
}

// TestUnusedConnectionFailsNoHandshake when the server shuts down; its client has done nothing wrong.
func TestUnusedConnectionFailsNoHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner, _ := net.Pipe()
		bounds := listen.NewBounds(1, 1, resources.IDs{}, slog.New(slog.DiscardHandler))
		conn, err := bounds.Listener(accepting{inner}, &tls.Config{MinVersion: tls.VersionTLS12}).Accept()
		must(t, err)
		bounds.Drain()
		began := time.Now()
		if n, err := conn.Read(make([]byte, 1)); n != 0 || err != io.EOF || time.Since(began) != time.Second { //nolint:errorlint // the server asks for that very error
			t.Errorf("%d bytes, %v after %s", n, err, time.Since(began))
		}
		if n := bounds.FailedHandshakes(); n != 0 {
			t.Errorf("%d failed handshakes", n)
		}
		must(t, conn.Close())
	})
}

// TestFailedHandshakeCountsOnce, whether the server reads first (HTTP/1.1) or writes first (gRPC).
func TestFailedHandshakeCountsOnce(t *testing.T) {
	for name, first := range map[string]func(net.Conn, []byte) (int, error){"reads": net.Conn.Read, "writes": net.Conn.Write} {
		synctest.Test(t, func(t *testing.T) {
			inner, peer := net.Pipe()
			bounds := listen.NewBounds(1, 1, resources.IDs{}, slog.New(slog.DiscardHandler))
			conn, err := bounds.Listener(accepting{inner}, &tls.Config{MinVersion: tls.VersionTLS12}).Accept()
			must(t, err)
			go func() { _, _ = peer.Write([]byte("GET / HTTP/1.1\r\n\r\n")) }()
			go func() { _, _ = io.Copy(io.Discard, peer) }() // an alert
			for _, do := range []func(net.Conn, []byte) (int, error){first, net.Conn.Read, net.Conn.Write} {
				if n, err := do(conn, make([]byte, 1)); n != 0 || err == nil {
					t.Errorf("%s: %d bytes, %v", name, n, err)
				}
				if n := bounds.FailedHandshakes(); n != 1 {
					t.Errorf("%s: %d failed handshakes", name, n)
				}
			}
			must(t, conn.Close())
			must(t, peer.Close())
		})
	}
}

// TestUnusedConnectionEndsWithoutAnError when its time is over, as if its client had closed it: nobody has asked.
func TestUnusedConnectionEndsWithoutAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner, peer := net.Pipe()
		_, conn := accepted(t, inner)
		if n, err := conn.Read(make([]byte, 1)); n != 0 || err != io.EOF { //nolint:errorlint // the server asks for that very error
			t.Errorf("unused: %d bytes, %v", n, err)
		}
		must(t, conn.SetReadDeadline(time.Time{}))
		go func() { _, _ = peer.Write([]byte("a")) }()
		if n, err := conn.Read(make([]byte, 1)); n != 1 || err != nil {
			t.Errorf("%d bytes, %v", n, err)
		}
		must(t, conn.SetReadDeadline(time.Now().Add(time.Hour)))
		if n, err := conn.Read(make([]byte, 1)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("used: %d bytes, %v", n, err)
		}
	})
}
