package gateway

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// lobby is a listener whose connections are the server's as soon as there is something to read
// of them, a few at a time: whoever is connected already would else stand behind a flood of all
// that have come. Meanwhile they cost little, and the system's queue, which is short, is empty.
type lobby struct {
	net.Listener
	open   *connections
	limits Limits
	clock  *clock
	// draining says that connections on which nothing is under way are being ended.
	draining *atomic.Bool
	pace     pace

	mu     sync.Mutex
	silent map[*conn]struct{}
	ready  []*conn // in the order in which they came to be
	ended  error
	more   chan struct{} // has one when there may be another one ready, or the end
}

func (e *Edge) newLobby(l net.Listener) *lobby {
	return &lobby{
		Listener: l, open: e.open, limits: e.cfg.Limits, clock: e.clock, draining: &e.draining,
		silent: map[*conn]struct{}{}, more: make(chan struct{}, 1),
	}
}

// fill accepts until the listener is closed.
func (l *lobby) fill() {
	for wait := time.Duration(0); ; {
		c, err := l.Listener.Accept()
		switch {
		case err == nil:
			wait = 0
			if peer := peerOf(c.RemoteAddr()); l.open.enter(c, peer) {
				giveWay(l.open.doors)
				l.take(&conn{lateConn: &lateConn{Conn: c, clock: l.clock}, limits: l.limits, open: l.open, peer: peer, draining: l.draining})
			}
		case outOfFiles(err): // the server would end; those that are open go on, and end
			wait = min(max(2*wait, shortWait), longWait)
			l.open.seldom.warn("no connection can be accepted now", "error", err.Error())
			time.Sleep(wait)
		default:
			l.end(err)
			return
		}
	}
}

// take waits for what there is to read of the connection.
func (l *lobby) take(c *conn) {
	l.mu.Lock()
	l.silent[c] = struct{}{}
	l.mu.Unlock()
	go func() {
		since := l.clock.passed.Load()
		c.readWithin(l.limits.Read)
		c.await()
		c.waited = time.Duration(l.clock.passed.Load() - since)
		l.mu.Lock()
		defer l.mu.Unlock()
		if _, waits := l.silent[c]; waits { // else it is ended
			delete(l.silent, c)
			l.ready = append(l.ready, c)
			l.tell()
		}
	}()
}

func (l *lobby) tell() {
	select {
	case l.more <- struct{}{}:
	default:
	}
}

// end closes those of which nothing came; the others are served yet.
func (l *lobby) end(err error) {
	l.mu.Lock()
	silent := l.silent
	l.silent, l.ended = nil, err
	l.tell()
	l.mu.Unlock()
	for c := range silent {
		_ = c.end() // nobody waits for it
	}
}

// Accept implements net.Listener. One goroutine accepts.
func (l *lobby) Accept() (net.Conn, error) {
	for {
		l.mu.Lock()
		if len(l.ready) > 0 {
			c := l.ready[0]
			if l.ready[0], l.ready = nil, l.ready[1:]; len(l.ready) == 0 {
				l.ready = nil
			}
			l.mu.Unlock()
			c.newcomer = l.pace.add()
			giveWay(l.open.turns)
			return c, nil
		}
		err := l.ended
		l.mu.Unlock()
		if err != nil {
			return nil, err
		}
		<-l.more
	}
}

// await returns when there is something to read, the end of it or an error included, or when its
// time is over: what the server reads says which.
func (c *lateConn) await() {
	raw, waited := c.raw(), false
	for raw != nil {
		err := raw.Read(func(fd uintptr) bool {
			if waited {
				return true // until something came
			}
			waited = blocks(fd)
			return !waited
		})
		if err == nil || !c.read.again(err, c.clock, c.Conn.SetReadDeadline) {
			return
		}
	}
}

// isSilent says whether who reads has to wait, or nobody knows.
func (c *lateConn) isSilent() (silent bool) {
	raw := c.raw()
	return raw == nil || raw.Control(func(fd uintptr) { silent = blocks(fd) }) != nil || silent
}

// raw is nil where there is no such thing.
func (c *lateConn) raw() syscall.RawConn {
	if system, ok := c.Conn.(syscall.Conn); ok {
		if raw, err := system.SyscallConn(); err == nil {
			return raw
		}
	}
	return nil
}

func blocks(fd uintptr) bool {
	var one [1]byte
	for {
		switch _, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT); {
		case errors.Is(err, syscall.EINTR):
		default:
			return errors.Is(err, syscall.EAGAIN)
		}
	}
}
