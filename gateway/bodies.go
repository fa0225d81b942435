package gateway

import (
	"io"
	"sync/atomic"

	"github.com/portcullis-authz/portcullis/resources/gate"
)

// bodies bounds what the bodies of all requests under way take. They arrive before it is
// known who sends them, and a sender who stops before the end keeps theirs for as long as a
// request may take to arrive.
type bodies struct {
	most   int64 // in bytes; 0 is no bound
	held   atomic.Int64
	turned atomic.Uint64
}

// counting reads a body for a request, and fails where there is too much of all.
type counting struct {
	io.Reader
	of   *bodies
	held *int64
}

// Read implements io.Reader.
func (c counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	*c.held += int64(n)
	if held := c.of.held.Add(int64(n)); c.of.most > 0 && held > c.of.most {
		c.of.turned.Add(1)
		return n, gate.ErrFull
	}
	return n, err
}

// Bodies are how many bytes of bodies are held now, and how many requests were refused until
// now since there were too many.
func (e *Edge) Bodies() (held int64, refused uint64) {
	return e.bodies.held.Load(), e.bodies.turned.Load()
}
