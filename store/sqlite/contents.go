package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"time"
)

// logPages is how many pages the log takes between two moves into the data file.
const logPages = 1000

// footprint is what every write to a file changes.
type footprint struct {
	size     int64
	modified time.Time
}

// contents is what this process has written, by which it finds what somebody else has written.
type contents struct {
	// file is the footprint of the data file. It is nil while this process writes to the file, which
	// checkpoint alone does.
	file atomic.Pointer[footprint]
	// void is set once the files have contents of somebody else. Nothing is read from them any more.
	void atomic.Bool

	// The holder of the writing session has the rest: the footprint of the log, what the data file holds
	// without the log, this process's last transaction, and the pages of the log at the last checkpoint.
	log        footprint
	base, last mark
	moved      int64
}

func errForeign(path string) error {
	return fmt.Errorf("the data folder was overwritten under the running process: another process wrote to %s", path)
}

// footprintOf returns the footprint of a file that is the one this process has opened.
func (s *Store) footprintOf(path string) (footprint, bool) {
	info, err := os.Stat(path)
	if err != nil || !os.SameFile(info, s.condition.files[path]) {
		return footprint{}, false
	}
	return footprint{info.Size(), info.ModTime()}, true
}

// unwritten returns an error if somebody else has written to the data file since it had the footprint since. The
// sessions still read a file after it was moved away.
func (s *Store) unwritten(since *footprint) error {
	if since == nil {
		return nil
	}
	if now, same := s.footprintOf(s.path); !same || now == *since || s.contents.file.Load() != since {
		return nil
	}
	s.contents.void.Store(true)
	return s.lose(errForeign(s.path))
}

// reading lends a session that reads. What it has read is an error if somebody else wrote to the file
// meanwhile.
func (s *Store) reading(ctx context.Context, fn func(*session) error) error {
	if s.contents.void.Load() {
		return s.refuseLost()
	}
	return s.read.use(ctx, func(ses *session) error {
		since := s.contents.file.Load()
		err := s.met(fn(ses))
		if foreign := s.unwritten(since); foreign != nil {
			return foreign
		}
		return err
	})
}

// met loses the folder after an error of damage.
func (s *Store) met(err error) error {
	if errors.Is(err, ErrCorrupt) {
		_ = s.lose(fmt.Errorf("the data file %s can't be read: %w", s.path, err))
	}
	return err
}

// writing lends the session that writes, unless somebody else has written to the files.
func (s *Store) writing(ctx context.Context, fn func(*session) error) error {
	if lost := s.Condition().Lost; lost != nil {
		return unavailable(lost)
	}
	return s.write.use(ctx, func(ses *session) error {
		if err := s.unchanged(); err != nil {
			return err
		}
		defer func() { s.contents.log, _ = s.footprintOf(s.path + "-wal") }()
		ses.base = s.contents.base
		return s.met(fn(ses))
	})
}

// unchanged returns an error if somebody else has written to the files: to the data file past SQLite, or to the
// log by a statement.
func (s *Store) unchanged() error {
	if err := s.refuseLost(); err != nil {
		return err
	}
	if log, same := s.footprintOf(s.path + "-wal"); !same || log != s.contents.log {
		s.contents.void.Store(same) // the sessions still read a log after it was moved away
		return s.lose(errForeign(s.path + "-wal"))
	}
	return nil
}

// moveLog moves a long log into the data file after a commit. SQLite would do so by itself, and the store
// would not know that the file changed.
func (s *Store) moveLog(ses *session) {
	var busy, log, moved int64
	if err := ses.one(context.Background(), "PRAGMA wal_checkpoint(NOOP)", nil, []any{&busy, &log, &moved}); err != nil {
		return
	}
	if log < s.contents.moved { // it has begun anew
		s.contents.moved = 0
	}
	if log-s.contents.moved >= logPages {
		s.checkpoint(ses)
	}
}

// checkpoint moves the log into the data file, which is this process's before and afterwards. No request ends it: a cut
// check would take the file for a foreign one, or a foreign one for its own.
func (s *Store) checkpoint(ses *session) {
	if s.unwritten(s.contents.file.Load()) == nil {
		s.contents.file.Store(nil)
		s.checkMoved(ses, s.move(ses))
	}
}

// move moves the log into the data file, and reports whether it moved all of it. A move that fails, as on a
// full disk, is tried again later.
func (s *Store) move(ses *session) (all bool) {
	var busy, log, moved int64
	err := ses.one(context.Background(), "PRAGMA wal_checkpoint(PASSIVE)", nil, []any{&busy, &log, &moved})
	s.contents.moved = log
	return err == nil && log == moved
}

// checkMoved notes the data file as it is after a move. Somebody else may have written to the files meanwhile, which
// their contents show: together they have this process's last transaction, the file has it with all of the log, and
// with a part of it no older one than before. A move itself writes nothing to the log.
func (s *Store) checkMoved(ses *session, all bool) {
	ctx := context.Background()
	s.stamp()
	if now, same := s.footprintOf(s.path); same {
		defer s.contents.file.Store(&now)
	}
	_ = s.unchanged() // it notes a foreign log
	var read mark
	err := ses.one(ctx, markText, nil, []any{&read.generation, &read.seq})
	_ = s.met(translate(ctx, err))
	last := s.contents.last
	m, unread := markOf(ctx, s.path)
	switch {
	case err != nil || read != last, all && (unread != nil || m != last), unread == nil && !m.fits(s.contents.base, last):
		s.contents.void.Store(true)
		_ = s.lose(errForeign(s.path))
	case unread != nil: // with a part of the log alone a file need not be readable
		s.contents.base = mark{seq: unknown}
	default:
		s.contents.base = m
	}
}

// stamp gives the data file a time of change that no other write gives it: a file system's clock may stand
// still for milliseconds. Where it can't, the time of the write itself has to do.
func (s *Store) stamp() {
	earlier := time.Duration(rand.IntN(int(time.Millisecond))) //nolint:gosec // not a secret
	_ = os.Chtimes(s.path, time.Time{}, time.Now().Add(-earlier))
}
