package listen

import (
	"errors"
	"net"
	"syscall"
	"time"
)

const (
	// minBackoff and maxBackoff are between two tries to accept where the system has no file descriptors left.
	minBackoff = 5 * time.Millisecond
	maxBackoff = time.Second
)

// Listener is a net.Listener whose connections are within the bounds.
type Listener struct {
	net.Listener
	bounds *Bounds
}

// Listener counts l's connections within the bounds; several listeners may share them.
func (b *Bounds) Listener(l net.Listener) *Listener { return &Listener{l, b} }

// Accept implements net.Listener; see AcceptConn.
func (l *Listener) Accept() (net.Conn, error) {
	c, err := l.AcceptConn()
	if err != nil {
		return nil, err // not c: a nil *Conn in a net.Conn is no nil
	}
	return c, nil
}

// AcceptConn is Accept with the type of its connections. A connection beyond the bounds is refused here; without file
// descriptors it waits for some to come free, since a server ends with its listener's first error.
func (l *Listener) AcceptConn() (*Conn, error) {
	for wait := time.Duration(0); ; {
		c, err := l.Listener.Accept()
		switch {
		case err == nil:
			wait = 0
			if peer := PeerOf(c.RemoteAddr()); l.bounds.enter(c, peer) {
				return &Conn{Conn: c, bounds: l.bounds, peer: peer}, nil
			}
		case outOfFiles(err):
			wait = min(max(2*wait, minBackoff), maxBackoff)
			l.bounds.log.warn("no connection can be accepted now", "error", err.Error())
			time.Sleep(wait)
		default:
			return nil, err
		}
	}
}

// outOfFiles reports whether accepting failed for want of something that comes free again.
func outOfFiles(err error) bool {
	for _, want := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM} {
		if errors.Is(err, want) {
			return true
		}
	}
	return false
}
