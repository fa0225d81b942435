package mongodb

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/portcullis-authz/portcullis/store"
)

// member is a change in the queue or in a group. Its function runs on its caller's own goroutine: a panic belongs
// there.
type member struct {
	ctx context.Context //nolint:containedctx // of the caller, who waits here
	fn  func(store.Tx) error
	// slot gives the change the slot for itself.
	slot chan struct{}
	// turn begins its part in a group's transaction, and said is the result of that part.
	turn chan *tx
	said chan error
	// result is the result of the group.
	result chan outcome
	// alone is set after its group failed: it joins no other.
	alone bool
	// panicked is set if its function panicked.
	panicked bool
}

type outcome struct {
	err   error
	lease time.Duration
}

func newMember(ctx context.Context, fn func(store.Tx) error) *member {
	return &member{
		ctx: ctx, fn: fn,
		slot: make(chan struct{}, 1), turn: make(chan *tx), said: make(chan error), result: make(chan outcome, 1),
	}
}

// share waits until a group has run the change, or until the change has the slot alone. The end of the
// context ends the wait in the queue, but not the wait for the group's result.
func (s *Store) share(m *member) (alone bool, err error) {
	s.slot.join(m)
	for done := m.ctx.Done(); ; {
		select {
		case <-m.slot:
			return true, nil
		case part := <-m.turn:
			m.play(part)
		case outcome := <-m.result:
			if outcome.err == nil {
				outwait(outcome.lease)
			}
			return false, outcome.err
		case <-done:
			if s.slot.leave(m) {
				return false, unavailable(m.ctx.Err())
			}
			done = nil
		}
	}
}

// play runs the change's part in its group.
func (m *member) play(part *tx) {
	var err error
	m.panicked = true
	defer func() {
		part.ended = true
		m.said <- err
	}()
	err = m.fn(part)
	m.panicked = false
}

// lead runs a group until it is committed. The caller has the slot, and lead releases it.
func (s *Store) lead(members []*member) {
	defer s.release()
	refusals, lease := make([]error, len(members)), time.Duration(0)
	err := s.retry(context.Background(), func(first bool) (again bool, err error) {
		lease, again, err = s.together(members, refusals, first)
		return again, err
	})
	if errors.Is(err, errApart) {
		s.apart(members)
		return
	}
	for i, m := range members {
		if err != nil {
			refusals[i] = err
		}
		m.result <- outcome{refusals[i], lease}
	}
}

// apart gives the slot to each member of a failed group, one after the other.
func (s *Store) apart(members []*member) {
	s.slot.putBack(slices.DeleteFunc(members, func(m *member) bool {
		m.alone = true
		ended := m.ctx.Err()
		if ended != nil {
			m.result <- outcome{err: unavailable(ended)}
		}
		return m.panicked || ended != nil
	}))
}

// together runs the changes one after the other in one transaction. A change that returns an error
// before it wrote anything is left out, and gets its error after the commit, because an earlier change
// of the group may be its cause. errApart means that a change failed after a write: MongoDB cannot undo
// a part of a transaction, so all of it was undone.
func (s *Store) together(members []*member, refusals []error, first bool) (lease time.Duration, again bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), operationTime)
	defer cancel()
	t := s.change(ctx, first)
	defer t.end()
	if err := t.begin(); err != nil {
		return 0, false, err
	}
	if first {
		if err := t.move(); err != nil {
			return 0, t.conflict, err
		}
	}
	refused := 0
	for i, m := range members {
		part := &tx{ctx: m.ctx, s: s, ses: t.ses, writable: true, bumped: t.bumped, holds: true}
		m.turn <- part
		refusals[i] = <-m.said
		switch {
		case part.conflict && !m.panicked:
			return 0, true, nil
		case m.panicked, part.failed != nil, m.ctx.Err() != nil, refusals[i] != nil && part.wrote:
			t.late = part.late || m.ctx.Err() != nil
			return 0, false, errApart
		case refusals[i] != nil:
			refused++
		}
	}
	if refused == len(members) {
		return 0, false, nil
	}
	again, err = t.commit()
	return t.lease, again, err
}
