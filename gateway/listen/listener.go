package listen

import (
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"syscall"
	"time"
)

const (
	// minBackoff and maxBackoff bound the time between two retries when the system has no file
	// descriptors left.
	minBackoff = 5 * time.Millisecond
	maxBackoff = time.Second
)

// Listener is a net.Listener that refuses connections over its bounds.
type Listener struct {
	net.Listener
	// Wrap makes the server's connection of an accepted one; nil leaves it as it is.
	Wrap   func(*Conn) net.Conn
	bounds *Bounds
	tls    *tls.Config
}

// Listener returns a listener for l's connections and counts them. They use TLS unless config is nil. Several listeners
// may share the bounds.
func (b *Bounds) Listener(l net.Listener, config *tls.Config) *Listener {
	return &Listener{Listener: l, bounds: b, tls: config}
}

// Accept implements net.Listener. It refuses connections over the bounds, and retries while the system has no file
// descriptors left, since a server ends with its listener's first error.
func (l *Listener) Accept() (net.Conn, error) {
	for wait := time.Duration(0); ; {
		c, err := l.Listener.Accept()
		switch {
		case err == nil:
			wait = 0
			peer := PeerOf(c.RemoteAddr())
			why := l.bounds.enter(peer)
			switch {
			case why == nil:
				accepted := &Conn{Conn: l.secure(c), bounds: l.bounds, peer: peer}
				l.bounds.remember(accepted)
				if l.Wrap != nil {
					return l.Wrap(accepted), nil
				}
				return accepted, nil
			case l.tls != nil:
				_ = c.Close() // a response would cost the handshake
			default:
				l.bounds.refuse(c, why)
			}
		case outOfResources(err):
			wait = min(max(2*wait, minBackoff), maxBackoff)
			l.bounds.log.warn("no connection can be accepted now", "error", err.Error())
			time.Sleep(wait)
		default:
			return nil, err
		}
	}
}

// secure returns the connection, with TLS where the listener has it.
func (l *Listener) secure(c net.Conn) net.Conn {
	if l.tls == nil {
		return c
	}
	return &secure{Conn: tls.Server(c, l.tls), bounds: l.bounds}
}

// outOfResources reports whether Accept failed for lack of file descriptors or memory: both may come free again.
func outOfResources(err error) bool {
	causes := []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM}
	return slices.ContainsFunc(causes, func(cause error) bool { return errors.Is(err, cause) })
}
