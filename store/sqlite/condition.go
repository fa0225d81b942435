package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	// watchTime is the time between two looks at the files.
	watchTime = time.Second
	// quickTime bounds the check of the file at a start.
	quickTime = 5 * time.Second
)

// Condition is the state of the data folder under a running process.
type Condition struct {
	// Lost is not nil after the folder was taken away, replaced or overwritten, or damage was found. Every
	// change is refused until the process is started anew, and every read of a file that was overwritten.
	// Other reads go on.
	Lost error
	// ReadOnly is set while the disk takes no writes. Each change tries anew.
	ReadOnly bool
}

// condition holds the Condition, and what it is found by.
type condition struct {
	mu  sync.Mutex
	now Condition
	// files are those that the process has opened, by their paths.
	files map[string]os.FileInfo
	// guard is a connection that is never used. While it is open SQLite leaves its log in place, so a
	// log that is gone was taken away by somebody else.
	guard *session
	stop  context.CancelFunc
	ended sync.WaitGroup
	// changed is called with each change; nil calls nobody.
	changed func(Condition)
}

// become notes the condition that fn makes of the present one.
func (c *condition) become(fn func(*Condition)) {
	c.mu.Lock()
	before := c.now
	fn(&c.now)
	now, changed := c.now, c.changed
	c.mu.Unlock()
	if now != before && changed != nil {
		changed(now)
	}
}

// Condition returns the state of the data folder.
func (s *Store) Condition() Condition {
	s.condition.mu.Lock()
	defer s.condition.mu.Unlock()
	return s.condition.now
}

// OnChange has fn called after each change of the Condition, and at once if it has changed since Open.
func (s *Store) OnChange(fn func(Condition)) {
	s.condition.mu.Lock()
	s.condition.changed = fn
	now := s.condition.now
	s.condition.mu.Unlock()
	if now != (Condition{}) {
		fn(now)
	}
}

// guardFiles opens the guard and notes which files this process has opened, and what it has written to them.
func (s *Store) guardFiles(ctx context.Context) error {
	guard, err := newSession(opener(dsn(s.path, true)))
	if err != nil {
		return translate(ctx, err)
	}
	s.condition.guard = guard
	if err := ping(ctx, guard); err != nil {
		return err
	}
	files := map[string]os.FileInfo{}
	for _, name := range []string{s.path, s.path + "-wal", s.path + "-shm", s.lock.Name()} {
		if files[name], err = os.Stat(name); err != nil {
			return fmt.Errorf("the data folder can't be read: %w", err)
		}
	}
	s.condition.files = files
	return s.write.use(ctx, func(ses *session) error {
		s.contents.log, _ = s.footprintOf(s.path + "-wal")
		s.checkpoint(ses)
		return s.unchanged()
	})
}

// present returns an error unless the folder has the files that this process has opened.
func (s *Store) present() error {
	for name, opened := range s.condition.files {
		info, err := os.Stat(name)
		switch {
		case err != nil:
			return fmt.Errorf("the data folder was taken away under the running process: %w", err)
		case !os.SameFile(info, opened):
			return fmt.Errorf("the data folder was replaced under the running process: %s is another file", name)
		}
	}
	return nil
}

// lose notes why the folder can't be used any more. The first reason stays. It returns the error for the caller.
func (s *Store) lose(cause error) error {
	s.condition.become(func(c *Condition) {
		if c.Lost == nil {
			c.Lost = fmt.Errorf("%w; stop the process, bring the folder back, or a backup (`portcullis store restore`), and start anew", cause)
		}
	})
	return unavailable(cause)
}

// settled notes the state of the disk after a write.
func (s *Store) settled(err error) {
	if err != nil && !errors.Is(err, errNoRoom) {
		return
	}
	s.condition.become(func(c *Condition) { c.ReadOnly = err != nil })
}

// refuseLost looks at the folder, and returns an error once it is lost.
func (s *Store) refuseLost() error {
	if err := s.present(); err != nil {
		return s.lose(err)
	}
	if err := s.unwritten(s.contents.file.Load()); err != nil {
		return err
	}
	if lost := s.Condition().Lost; lost != nil {
		return unavailable(lost)
	}
	return nil
}

// kept returns an error for a change committed into files no longer in the folder, or written to by somebody else: a
// restart would not find it.
func (s *Store) kept(ses *session) error {
	s.contents.log, _ = s.footprintOf(s.path + "-wal")
	if s.refuseLost() == nil {
		s.moveLog(ses)
	}
	if lost := s.Condition().Lost; lost != nil {
		return unsettled(lost)
	}
	return nil
}

// watch looks at the folder until the store is closed. It checks the whole file once.
func (s *Store) watch() {
	ctx, stop := context.WithCancel(context.Background())
	s.condition.stop = stop
	s.condition.ended.Go(func() {
		if err := integrity(ctx, s.path, wholeCheck); errors.Is(err, ErrCorrupt) {
			_ = s.lose(err)
		}
	})
	s.condition.ended.Go(func() {
		again := time.NewTicker(watchTime)
		defer again.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-again.C:
				s.look(ctx)
			}
		}
	})
}

// look compares the folder with the opened and written files, and tries whether a full disk has room again.
func (s *Store) look(ctx context.Context) {
	switch {
	case s.refuseLost() != nil: // it is noted
	case s.Condition().ReadOnly:
		s.settled(s.tryWrite(ctx))
	default: // the log can be looked at only while nobody writes
		ctx, cancel := context.WithTimeout(ctx, watchTime/2)
		defer cancel()
		_ = s.writing(ctx, func(*session) error { return nil })
	}
}

// integrity checks a file with a connection of its own. For a damaged file the error wraps ErrCorrupt.
func integrity(ctx context.Context, path, check string) error {
	ses, err := newSession(opener(location(path, lookOnly())))
	if err != nil {
		return fmt.Errorf("the data file %s can't be opened: %w", path, translate(ctx, err))
	}
	defer ses.close()
	return ses.check(ctx, path, check)
}

// Checks of a file: of all of it, and of its pages without its indexes.
const (
	wholeCheck = "PRAGMA integrity_check(1)"
	pageCheck  = "PRAGMA quick_check(1)"
)

// check runs one of the checks on the file that the session has open.
func (s *session) check(ctx context.Context, path, check string) error {
	var match string
	if err := s.long(ctx, check, nil, []any{&match}); err != nil {
		return fmt.Errorf("the data file %s can't be read: %w", path, translate(ctx, err))
	}
	if match != "ok" {
		return fmt.Errorf("the data file %s is %w: %s", path, ErrCorrupt, strings.ReplaceAll(match, "\n", " "))
	}
	return nil
}

// quickCheck checks the file at a start, for quickTime at most: the rest of a large one is checked
// beside serving.
func quickCheck(ctx context.Context, path string) error {
	bounded, cancel := context.WithTimeout(ctx, quickTime)
	defer cancel()
	err := integrity(bounded, path, pageCheck)
	if bounded.Err() != nil && ctx.Err() == nil {
		return nil
	}
	return err
}
