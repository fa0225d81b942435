//go:build !linux

package flood_test

import (
	"net"
	"time"
)

// arrivals reads what comes on a connection together with when it was read.
type arrivals struct{ conn *net.TCPConn }

func newArrivals(c *net.TCPConn) (*arrivals, error) { return &arrivals{conn: c}, nil }

func (a *arrivals) read(into []byte) (n int, at time.Time, err error) {
	n, err = a.conn.Read(into)
	return n, time.Now(), err
}
