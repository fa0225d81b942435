package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/portcullis-authz/portcullis/store"
)

const (
	pingText = "SELECT epoch FROM authz_meta WHERE id = 1"
	// probeText writes a value that nobody reads, and returns the number of the last transaction.
	probeText = "UPDATE authz_meta SET probe = probe + 1, base_generation = ?, base_seq = ? WHERE id = 1 RETURNING seq"
	// settleTime bounds the search for a transaction whose COMMIT failed.
	settleTime = 2 * time.Second
)

// commit makes the transaction durable. The end of the caller's context does not interrupt it: the
// result of an interrupted COMMIT would be unknown.
func commit(ctx context.Context, ses *session, seq int64) error {
	_, cause := ses.exec(context.WithoutCancel(ctx), "COMMIT")
	if cause == nil {
		return nil
	}
	ses.rollback()
	return settle(ctx, ses, seq, cause)
}

// settle finds the result of a transaction after its COMMIT failed. To this process it is undone, but its frames may be
// in the log: a restart after a crash would find them and count it as done. Another commit settles that: it overwrites
// those frames, and reads the number of the last transaction.
//
// On a full disk no other commit is possible either. There the last frame had no room, and without it the others do not
// count.
func settle(ctx context.Context, ses *session, seq int64, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	last, err := probe(ctx, ses)
	switch {
	case err != nil && isFull(cause):
		return translate(ctx, cause)
	case isNoRoom(cause) && err != nil:
		return unsettled(fmt.Errorf("%w: %v; %v", errNoRoom, cause, err))
	case err != nil:
		return unsettled(fmt.Errorf("%v; %v", cause, err))
	case last == seq:
		return nil
	default:
		return translate(ctx, cause)
	}
}

// unsettled returns the error of a transaction that may be durable or not.
func unsettled(cause error) error {
	return store.OutcomeUnknown(fmt.Errorf("sqlite: it is not known whether the change was made: %w", cause))
}

// probe makes a write, through the log to the disk.
func probe(ctx context.Context, ses *session) (seq int64, err error) {
	if _, err = ses.exec(ctx, "BEGIN IMMEDIATE"); err == nil {
		err = ses.one(ctx, probeText, []any{ses.base.generation, ses.base.seq}, []any{&seq})
	}
	if err == nil {
		_, err = ses.exec(ctx, "COMMIT")
	}
	if err != nil {
		ses.rollback()
	}
	return seq, err
}

func ping(ctx context.Context, ses *session) error {
	var epoch int64
	return translate(ctx, ses.one(ctx, pingText, nil, []any{&epoch}))
}

// Ping implements store.Store.
func (s *Store) Ping(ctx context.Context) error {
	return s.reading(ctx, func(ses *session) error { return ping(ctx, ses) })
}

// Check implements store.Store. It writes to a column of its own: no revision and no epoch moves. While
// the disk takes no writes it is nil: decisions go on, and Condition shows it.
func (s *Store) Check(ctx context.Context) error {
	if err := s.refuseLost(); err != nil {
		return err
	}
	if err := s.Ping(ctx); err != nil {
		return err
	}
	err := s.tryWrite(ctx)
	s.settled(err)
	if errors.Is(err, errNoRoom) {
		return nil
	}
	return err
}

// tryWrite makes a write that changes nothing, through the log to the disk.
func (s *Store) tryWrite(ctx context.Context) error {
	return s.writing(ctx, func(ses *session) error {
		_, err := probe(ctx, ses)
		return translate(ctx, err)
	})
}
