package sqlite

import (
	"context"
	"database/sql/driver"
	"sync"
)

// pool lends sessions to callers in the order of their arrival. It lends the last used idle session, since its cache
// holds the newest pages, and opens one if none is idle.
type pool struct {
	open func() (driver.Conn, error)
	// slots has a token for each session that may still be lent.
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

// use runs fn with a session that no other caller has.
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

// wait takes a token from slots.
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
		// Of several ready cases select takes any; closed has priority.
		select {
		case <-p.closed:
			p.slots <- struct{}{}
			return errClosed
		default:
			return nil
		}
	}
}

// last takes the last used idle session, nil if none is idle.
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

// give takes a session back.
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

// close refuses new callers, waits for the others, calls last with each session, and closes it.
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
