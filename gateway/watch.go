package gateway

import (
	"sync/atomic"
	"time"
)

// watchedMost bounds in bytes what a watch keeps of the requests that a client sends ahead. A client who sends more is
// watched no longer: its end is then noticed at the next write.
const watchedMost = 16 << 10

// watch reads from a connection while its request is being answered, since only a read notices that the client has
// gone. What it reads belongs to the next requests.
type watch struct {
	conn    *conn
	read    []byte
	stopped atomic.Bool
	done    chan struct{}
}

// watch begins to watch the connection; gone is called when it is at its end. Until stop nobody else reads.
func (c *conn) watch(gone func()) *watch {
	w := &watch{conn: c, done: make(chan struct{})}
	_ = c.SetReadDeadline(time.Time{}) // fails on a closed connection, as the read does
	go w.run(gone)
	return w
}

func (w *watch) run(gone func()) {
	defer close(w.done)
	var room [512]byte
	for len(w.read) < watchedMost {
		n, err := w.conn.Conn.Read(room[:])
		w.read = append(w.read, room[:n]...)
		if err != nil {
			if !w.stopped.Load() {
				gone()
			}
			return
		}
	}
}

// stop ends the watch and leaves the connection to the server, with what came meanwhile.
func (w *watch) stop() {
	w.stopped.Store(true)
	_ = w.conn.SetReadDeadline(time.Now())
	<-w.done
	w.conn.rest = append(w.conn.rest, w.read...)
	_ = w.conn.SetReadDeadline(time.Time{}) // the server sets its own before it reads
}
