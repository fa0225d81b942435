package gateway_test

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/portcullis-authz/portcullis/gateway"
)

// TestAConnectionIsHeldToItsLimits: each phase has its own, begins with the phase, and is over
// at most a tick of the clock late, never early.
func TestAConnectionIsHeldToItsLimits(t *testing.T) {
	limits := gateway.Limits{Read: 10 * time.Second, Write: 30 * time.Second, Idle: 75 * time.Second}
	const tick = 100 * time.Millisecond
	one, answer := make([]byte, 1), []byte("HTTP/1.1 200 OK\r\n\r\n")
	read := func(t *testing.T, c net.Conn) {
		t.Helper()
		if n, err := c.Read(one); n != 1 || err != nil {
			t.Fatalf("%d bytes, %v", n, err)
		}
	}
	write := func(t *testing.T, c net.Conn, p []byte) {
		t.Helper()
		if n, err := c.Write(p); n != len(p) || err != nil {
			t.Fatalf("%d bytes, %v", n, err)
		}
	}
	slowly := func(peer net.Conn) { // a byte every second
		for {
			if _, err := peer.Write(one); err != nil {
				return
			}
			time.Sleep(time.Second)
		}
	}
	for name, c := range map[string]struct {
		do   func(t *testing.T, c, peer net.Conn)
		want time.Duration // from the last thing that was done
	}{
		"the first request": {func(*testing.T, net.Conn, net.Conn) {}, limits.Read},
		"the next request": {func(t *testing.T, c, peer net.Conn) {
			go exchanging(peer)
			read(t, c)
			gateway.Sends(c)
			write(t, c, answer)
			gateway.Enters(c, fasthttp.StateIdle)
		}, limits.Idle},
		"the rest of the next request": {func(_ *testing.T, c, _ net.Conn) {
			gateway.Enters(c, fasthttp.StateIdle)
			time.Sleep(time.Minute)
			gateway.Enters(c, fasthttp.StateActive)
		}, limits.Read},
		"a body that is asked for": {func(t *testing.T, c, peer net.Conn) {
			go exchanging(peer)
			read(t, c)
			time.Sleep(time.Second)
			write(t, c, []byte("HTTP/1.1 100 Continue\r\n\r\n"))
		}, limits.Read - time.Second},
		"a request in drops": {func(t *testing.T, c, peer net.Conn) {
			go slowly(peer)
			for range 8 {
				read(t, c)
			}
		}, limits.Read - 7*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn, peer, end := gateway.TimedConn(limits)
				defer end()
				time.Sleep(3*time.Second + tick/3)
				gateway.Enters(conn, fasthttp.StateActive)
				c.do(t, conn, peer)
				began := time.Now()
				var err error
				for err == nil && time.Since(began) < time.Hour {
					_, err = conn.Read(one)
				}
				if took := time.Since(began); !errors.Is(err, os.ErrDeadlineExceeded) || took < c.want || took > c.want+2*tick {
					t.Errorf("it is over after %s, want %s: %v", took, c.want, err)
				}
			})
		})
	}
	t.Run("an answer that is taken in drops", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			conn, peer, end := gateway.TimedConn(limits)
			defer end()
			go func() {
				_, _ = peer.Write(one)
				for {
					if _, err := peer.Read(make([]byte, 1)); err != nil {
						return
					}
					time.Sleep(time.Second)
				}
			}()
			read(t, conn)
			time.Sleep(time.Hour) // which is how long it is worked on
			gateway.Sends(conn)
			began := time.Now()
			var err error
			for err == nil && time.Since(began) < time.Hour {
				_, err = conn.Write(answer)
			}
			if took := time.Since(began); !errors.Is(err, os.ErrDeadlineExceeded) || took < limits.Write || took > limits.Write+2*tick {
				t.Errorf("it is over after %s: %v", took, err)
			}
		})
	})
	t.Run("a refusal of a request that does not end", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			conn, peer, end := gateway.TimedConn(limits)
			defer end()
			gateway.Sends(conn)
			gateway.Enters(conn, fasthttp.StateIdle)
			time.Sleep(time.Minute) // longer than an answer may take
			gateway.Enters(conn, fasthttp.StateActive)
			time.Sleep(limits.Read)
			go func() { _, _ = io.Copy(io.Discard, peer) }()
			write(t, conn, answer)
		})
	})
	t.Run("a first request after silence", func(t *testing.T) {
		for _, c := range []struct{ silent, want time.Duration }{{limits.Read - time.Second, time.Second}, {limits.Read, 0}, {limits.Read + time.Second, 0}} {
			synctest.Test(t, func(t *testing.T) {
				conn, peer, end := gateway.TimedConn(limits)
				defer end()
				gateway.Waited(conn, c.silent)
				gateway.Enters(conn, fasthttp.StateActive)
				began := time.Now()
				if _, err := conn.Read(one); !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Fatal(err)
				}
				if took := time.Since(began); took < c.want || took > c.want+2*tick {
					t.Errorf("after %s of silence it has %s, want %s", c.silent, took, c.want)
				}
				go func() {
					time.Sleep(limits.Read - tick)
					exchanging(peer)
				}()
				gateway.Enters(conn, fasthttp.StateActive) // the next one has its own time
				read(t, conn)
			})
		}
	})
	t.Run("no limits", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			conn, peer, end := gateway.TimedConn(gateway.Limits{})
			defer end()
			go func() {
				time.Sleep(time.Hour)
				exchanging(peer)
			}()
			read(t, conn)
			write(t, conn, answer)
		})
	})
}

// exchanging sends a byte and reads all that comes.
func exchanging(peer net.Conn) {
	_, _ = peer.Write([]byte("x"))
	_, _ = io.Copy(io.Discard, peer)
}
