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

// pair is a connection whose deadlines come late, and its other end.
func pair(t *testing.T) (c, peer net.Conn) {
	t.Helper()
	inner, peer := net.Pipe()
	t.Cleanup(func() { _ = errors.Join(inner.Close(), peer.Close()) })
	return gateway.LateConn(inner), peer
}

// ends says after which time a read without anything to read, or a write that nobody reads,
// gives up.
func ends(t *testing.T, do func([]byte) (int, error)) time.Duration {
	t.Helper()
	began := time.Now()
	if n, err := do(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || n != 0 {
		t.Errorf("%d bytes, %v", n, err)
	}
	return time.Since(began)
}

// TestADeadlineIsInForceAtItsInstant, whatever was asked for before it and however often.
func TestADeadlineIsInForceAtItsInstant(t *testing.T) {
	const idle, short = 75 * time.Second, 10 * time.Second
	for name, c := range map[string]struct {
		asked []time.Duration // from now on
		want  time.Duration
	}{
		"one":                {[]time.Duration{short}, short},
		"later than before":  {[]time.Duration{short, idle}, idle},
		"sooner than before": {[]time.Duration{idle, short}, short},
		"in turns":           {[]time.Duration{idle, short, idle, short, idle}, idle},
		"in turns, short":    {[]time.Duration{short, idle, short, idle, short}, short},
		"past":               {[]time.Duration{idle, -time.Second}, 0},
		"none in between":    {[]time.Duration{short, 0, idle}, idle},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn, _ := pair(t)
				for range 2 {
					for _, d := range c.asked {
						at := time.Now().Add(d)
						if d == 0 {
							at = time.Time{}
						}
						if err := conn.SetDeadline(at); err != nil {
							t.Fatal(err)
						}
					}
					began := time.Now()
					if got := ends(t, conn.Read); got != c.want {
						t.Errorf("a read ends after %s", got)
					}
					if err := conn.SetWriteDeadline(began.Add(c.want)); err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Second) // and when it has come, it stays
					if got := ends(t, conn.Read) + ends(t, conn.Write); got != 0 {
						t.Errorf("later a read and a write end after %s", got)
					}
				}
			})
		})
	}
}

// TestNoDeadlineIsNone, also after one.
func TestNoDeadlineIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, peer := pair(t)
		must(t, conn.SetDeadline(time.Now().Add(time.Second)))
		must(t, conn.SetDeadline(time.Time{}))
		go func() {
			time.Sleep(time.Hour)
			_, _ = peer.Write([]byte("x"))
			time.Sleep(time.Hour)
			_, _ = io.ReadFull(peer, make([]byte, 5))
		}()
		if n, err := conn.Read(make([]byte, 1)); n != 1 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		if n, err := conn.Write([]byte("hello")); n != 5 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	})
}

// TestADeadlineWakesWhoWaits: the server ends idle connections with one of now.
func TestADeadlineWakesWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, _ := pair(t)
		must(t, conn.SetReadDeadline(time.Now().Add(10*time.Second)))
		must(t, conn.SetReadDeadline(time.Now().Add(time.Hour)))
		go func() {
			time.Sleep(time.Minute)
			must(t, conn.SetReadDeadline(time.Now()))
		}()
		if got := ends(t, conn.Read); got != time.Minute {
			t.Errorf("it waited for %s", got)
		}
	})
}

// TestAWriteGoesOnWhereItWas when an earlier deadline has come in its middle.
func TestAWriteGoesOnWhereItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, peer := pair(t)
		must(t, conn.SetWriteDeadline(time.Now().Add(time.Second)))
		must(t, conn.SetWriteDeadline(time.Now().Add(time.Hour)))
		got := make([]byte, 10)
		go func() {
			_, _ = io.ReadFull(peer, got[:4])
			time.Sleep(time.Minute)
			_, _ = io.ReadFull(peer, got[4:])
		}()
		if n, err := conn.Write([]byte("0123456789")); n != 10 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		synctest.Wait()
		if string(got) != "0123456789" {
			t.Errorf("%q came", got)
		}
	})
}

// TestARequestThatWasReadIsAnswered, though the server takes its connection for idle and
// closes it: that is done once the answer is sent, or after a while.
func TestARequestThatWasReadIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner, peer := net.Pipe()
		conn := gateway.DrainedConn(inner)
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
		conn := gateway.DrainedConn(inner)
		go func() { _, _ = peer.Write([]byte("as")) }()
		_, _ = conn.Read(make([]byte, 3))
		must(t, conn.Close())
		began := time.Now()
		if _, err := peer.Read(make([]byte, 1)); err == nil || time.Since(began) != 5*time.Second {
			t.Errorf("what is never answered ends after %s: %v", time.Since(began), err)
		}
	})
}

// TestAnIdleConnectionIsWokenAndClosed when the server is stopped.
func TestAnIdleConnectionIsWokenAndClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner, peer := net.Pipe()
		conn := gateway.DrainedConn(inner)
		must(t, conn.SetReadDeadline(time.Now().Add(time.Hour)))
		go func() {
			time.Sleep(time.Minute)
			must(t, conn.Close())
		}()
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
