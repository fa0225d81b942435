package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/portcullis-authz/portcullis/store"
)

const (
	// watchTime is the time between two looks at the files.
	watchTime = time.Second
	// quickTime bounds the check of the file at a start.
	quickTime = 5 * time.Second
)

// Condition is the state of the data folder under a running process.
type Condition struct {
	// Lost is not nil after the folder was taken away or replaced, or damage was found. Reads go on;
	// every change is refused until the process is started anew.
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
	// changed is told of each change; nil is nobody.
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

// OnChange has fn called after each change of the Condition.
func (s *Store) OnChange(fn func(Condition)) {
	s.condition.mu.Lock()
	defer s.condition.mu.Unlock()
	s.condition.changed = fn
}

// guardFiles opens the guard and notes which files this process has opened.
func (s *Store) guardFiles(ctx context.Context, path string) error {
	guard, err := newSession(opener(dsn(path, true)))
	if err != nil {
		return translate(ctx, err)
	}
	s.condition.guard, s.condition.files = guard, map[string]os.FileInfo{}
	if err := ping(ctx, guard); err != nil {
		return err
	}
	for _, name := range []string{path, path + "-wal", path + "-shm", s.lock.Name()} {
		if s.condition.files[name], err = os.Stat(name); err != nil {
			return fmt.Errorf("the data folder can't be read: %w", err)
		}
	}
	return nil
}

// present returns an error unless the folder has the files that this process has opened.
func (s *Store) present() error {
	for name, opened := range s.condition.files {
		found, err := os.Stat(name)
		switch {
		case err != nil:
			return fmt.Errorf("the data folder was taken away under the running process: %w", err)
		case !os.SameFile(found, opened):
			return fmt.Errorf("the data folder was replaced under the running process: %s is another file", name)
		}
	}
	return nil
}

// lose notes why the folder can't be used any more. The first reason stays.
func (s *Store) lose(cause error) {
	s.condition.become(func(c *Condition) {
		if c.Lost == nil {
			c.Lost = fmt.Errorf("%w; stop the process, bring the folder back, or a backup (`portcullis store restore`), and start anew", cause)
		}
	})
}

// settled notes what the end of a write tells of the disk.
func (s *Store) settled(err error) {
	if err != nil && !errors.Is(err, errNoRoom) {
		return
	}
	s.condition.become(func(c *Condition) { c.ReadOnly = err != nil })
}

// refuseLost looks at the folder, and returns an error for a change once it is lost.
func (s *Store) refuseLost() error {
	if err := s.present(); err != nil {
		s.lose(err)
	}
	if lost := s.Condition().Lost; lost != nil {
		return fmt.Errorf("sqlite: %w: %w", lost, store.ErrUnavailable)
	}
	return nil
}

// kept returns an error for a change that was committed into files that are not in the folder any more:
// a restart would not find it.
func (s *Store) kept() error {
	if err := s.present(); err != nil {
		s.lose(err)
		return fmt.Errorf("sqlite: %w: %w", err, store.ErrOutcomeUnknown)
	}
	return nil
}

// watch looks at the folder until the store is closed. It checks the whole file once.
func (s *Store) watch(path string) {
	ctx, stop := context.WithCancel(context.Background())
	s.condition.stop = stop
	s.condition.ended.Go(func() {
		if err := integrity(ctx, path, wholeCheck); errors.Is(err, ErrCorrupt) {
			s.lose(err)
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

// look holds the folder against what was opened, and tries whether a full disk has room again.
func (s *Store) look(ctx context.Context) {
	err := s.present()
	if err == nil {
		err = s.sameDatabase(ctx)
	}
	if err != nil {
		s.lose(err)
		return
	}
	if s.Condition().ReadOnly {
		s.settled(s.tryWrite(ctx))
	}
}

// sameDatabase returns an error for a file whose contents were replaced in place: each start writes a
// generation of its own. A read that fails tells nothing.
func (s *Store) sameDatabase(ctx context.Context) error {
	var generation string
	err := s.read.use(ctx, func(ses *session) error {
		return ses.one(ctx, "SELECT generation FROM authz_meta WHERE id = 1", nil, []any{&generation})
	})
	if err == nil && generation != s.generation {
		return errors.New("the data folder was replaced under the running process: it has the contents of another one")
	}
	return nil
}

// integrity checks a file with a connection of its own. It returns an error that wraps ErrCorrupt where
// the file is damaged.
func integrity(ctx context.Context, path, check string) error {
	ses, err := newSession(opener(dsn(path, true)))
	if err != nil {
		return translate(ctx, err)
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
	var found string
	if err := s.long(ctx, check, nil, []any{&found}); err != nil {
		return fmt.Errorf("the data file %s can't be read: %w", path, translate(ctx, err))
	}
	if found != "ok" {
		return fmt.Errorf("the data file %s is %w: %s", path, ErrCorrupt, strings.ReplaceAll(found, "\n", " "))
	}
	return nil
}

// quickCheck checks the file at a start, for quickTime at most: the rest of a large one is checked
// beside serving.
func quickCheck(ctx context.Context, path string) error {
	within, cancel := context.WithTimeout(ctx, quickTime)
	defer cancel()
	err := integrity(within, path, pageCheck)
	if within.Err() != nil && ctx.Err() == nil {
		return nil
	}
	return err
}
