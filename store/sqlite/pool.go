package sqlite

import (
	"context"
	"database/sql/driver"
)

// pool hands out sessions in the order in which they were asked for. An empty slot
// (nil) becomes a session when it is first used, or used again after one broke.
type pool struct {
	open   func() (driver.Conn, error)
	slots  chan *session
	closed chan struct{}
}

func newPool(open func() (driver.Conn, error), size int) *pool {
	p := &pool{open: open, slots: make(chan *session, size), closed: make(chan struct{})}
	for range size {
		p.slots <- nil
	}
	return p
}

// use runs fn with a session of its own.
func (p *pool) use(ctx context.Context, fn func(*session) error) error {
	ses, err := p.take(ctx)
	if err != nil {
		return err
	}
	defer func() { p.give(ses) }()
	if ses == nil {
		if ses, err = newSession(p.open); err != nil {
			return translate(ctx, err)
		}
	}
	return fn(ses)
}

func (p *pool) take(ctx context.Context) (*session, error) {
	if err := ctx.Err(); err != nil {
		return nil, unavailable(err)
	}
	select {
	case <-p.closed:
		return nil, errClosed
	case <-ctx.Done():
		return nil, unavailable(ctx.Err())
	case ses := <-p.slots:
		// With several cases ready select takes any: the closed one goes first.
		select {
		case <-p.closed:
			p.slots <- ses
			return nil, errClosed
		default:
			return ses, nil
		}
	}
}

func (p *pool) give(ses *session) {
	if ses != nil && ses.broken {
		ses.close()
		ses = nil
	}
	p.slots <- ses
}

// close refuses newcomers, waits for those under way, lets last use a session that
// is left, and closes them all.
func (p *pool) close(last func(*session)) {
	close(p.closed)
	for range cap(p.slots) {
		if ses := <-p.slots; ses != nil {
			last(ses)
			ses.close()
		}
	}
}
