package gateway

import (
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// lateConn puts a deadline into force only where one that is in force would come too late:
// there are three for each request, nearly all of them later than the one before. One that
// was passed over is put into force when the earlier one has come.
type lateConn struct {
	net.Conn
	clock       *clock
	read, write lateDeadline
}

// lateDeadline are the deadline that was asked for and the one in force, in nanoseconds by
// the clock; 0 is none.
type lateDeadline struct{ asked, inForce atomic.Int64 }

// set takes a deadline; it may be called while somebody waits.
func (d *lateDeadline) set(at int64, k *clock, force func(time.Time) error) error {
	d.asked.Store(at)
	if now := d.inForce.Load(); at == 0 || now != 0 && now <= at {
		return nil // it comes in time to be looked at again, or there is none to come
	}
	d.inForce.Store(at)
	return force(k.base.Add(time.Duration(at)))
}

// again says, after an error, whether that was only the earlier deadline: then the one that
// was asked for is in force.
func (d *lateDeadline) again(err error, k *clock, force func(time.Time) error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	for {
		at := d.asked.Load()
		t := time.Time{}
		if at != 0 {
			if t = k.base.Add(time.Duration(at)); !time.Now().Before(t) {
				return false
			}
		}
		d.inForce.Store(at)
		if force(t) != nil {
			return false
		}
		if d.asked.Load() == at { // else another one was asked for meanwhile
			return true
		}
	}
}

// readWithin bounds what is read from now on, writeWithin what is written; 0 is no limit.
// Where no deadline can be set the connection is broken, and the next use of it says so.
func (c *lateConn) readWithin(limit time.Duration) {
	_ = c.read.set(c.clock.after(limit), c.clock, c.Conn.SetReadDeadline)
}

func (c *lateConn) writeWithin(limit time.Duration) {
	_ = c.write.set(c.clock.after(limit), c.clock, c.Conn.SetWriteDeadline)
}

// instant is a time by the clock, 0 for none.
func (c *lateConn) instant(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	if passed := int64(t.Sub(c.clock.base)); passed != 0 {
		return passed
	}
	return -1 // as long ago, and not none
}

// SetReadDeadline implements net.Conn.
func (c *lateConn) SetReadDeadline(t time.Time) error {
	return c.read.set(c.instant(t), c.clock, c.Conn.SetReadDeadline)
}

// SetWriteDeadline implements net.Conn.
func (c *lateConn) SetWriteDeadline(t time.Time) error {
	return c.write.set(c.instant(t), c.clock, c.Conn.SetWriteDeadline)
}

// SetDeadline implements net.Conn.
func (c *lateConn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// Read implements net.Conn.
func (c *lateConn) Read(p []byte) (int, error) {
	for {
		n, err := c.Conn.Read(p)
		if err == nil || n > 0 || !c.read.again(err, c.clock, c.Conn.SetReadDeadline) {
			return n, err
		}
	}
}

// Write implements net.Conn.
func (c *lateConn) Write(p []byte) (written int, err error) {
	for {
		n, err := c.Conn.Write(p[written:])
		written += n
		if err == nil || !c.write.again(err, c.clock, c.Conn.SetWriteDeadline) {
			return written, err
		}
	}
}

// CloseWrite ends the sending side, where the connection has one.
func (c *lateConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}
