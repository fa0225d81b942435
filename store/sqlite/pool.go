package sqlite

import (
	"context"
	"database/sql/driver"
	"sync"
)

// pool hands out sessions in the order in which they were asked for. Of those that nobody has, the one that was
// used last goes first, since its pages are in its cache; it is opened when there is none.
type pool struct {
	open func() (driver.Conn, error)
	// slots has a token for each session that may be in use.
	slots  chan struct{}
	closed chan struct{}

	mu   sync.Mutex
	idle []*session
}

func newPool(open func() (driver.Conn, error), size int) *pool {
	p := &pool{open: open, slots: make(chan struct{}, size), closed: make(chan struct{})}
	for range size {
		p.slots <- struct{}{}
	}
	return p
}

// use runs fn with a session of its own.
func (p *pool) use(ctx context.Context, fn func(*session) error) error {
	if err := p.wait(ctx); err != nil {
		return err
	}
	ses := p.last()
	defer func() { p.give(ses) }()
	if ses == nil {
		var err error
		if ses, err = newSession(p.open); err != nil {
			return translate(ctx, err)
		}
	}
	return fn(ses)
}

// wait takes a token.
func (p *pool) wait(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return unavailable(err)
	}
	select {
	case <-p.closed:
		return errClosed
	case <-ctx.Done():
		return unavailable(ctx.Err())
	case <-p.slots:
		// With several cases ready select takes any: the closed one goes first.
		select {
		case <-p.closed:
			p.slots <- struct{}{}
			return errClosed
		default:
			return nil
		}
	}
}

// last takes the session that was used last, nil when all that there are, are in use.
func (p *pool) last() *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle)
	if n == 0 {
		return nil
	}
	ses := p.idle[n-1]
	p.idle = p.idle[:n-1]
	return ses
}

func (p *pool) give(ses *session) {
	switch {
	case ses == nil: // it could not be opened
	case ses.broken:
		ses.close()
	default:
		p.mu.Lock()
		p.idle = append(p.idle, ses)
		p.mu.Unlock()
	}
	p.slots <- struct{}{}
}

// close refuses newcomers, waits for those under way, lets last use each session that
// is left, and closes them all.
func (p *pool) close(last func(*session)) {
	close(p.closed)
	for range cap(p.slots) {
		<-p.slots
	}
	for _, ses := range p.idle {
		last(ses)
		ses.close()
	}
}
