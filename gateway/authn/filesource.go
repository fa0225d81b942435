package authn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"
)

// statGap is the least time between two checks of the file while no key is missing.
const statGap = time.Second

// notOwner masks the permissions of everybody but the owner.
const notOwner = 0o077

var (
	errNotAFile = errors.New("must be a regular file")
	errExposed  = errors.New("has a private key, with which tokens for any user can be signed, and other users can read the file; " +
		"publish public keys only, and replace that key")
)

// FileOptions are the settings of a FileSource. Path is required.
type FileOptions struct {
	// Path is a file with a JWK set.
	Path string
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Log gets failures, never a key. nil discards them.
	Log *slog.Logger
}

// FileSource is a KeySource of the JWK set in a file.
//
// It uses the last set that could be read, without a maximum age, since the operator writes the
// file. A changed file (time, size or identity) is noticed within a second, or at once when a
// key is missing. While the file is malformed, unreadable or missing, the last good set stays in
// use, and the log says so once for each change or cause. Each check retries an unreadable file:
// it may become readable without a change.
type FileSource struct {
	options FileOptions

	mu   sync.Mutex
	set  KeySet
	seen os.FileInfo // at the last check; nil if the file could not be read
	// unread is why, "" if it was read.
	unread string
	// written is when the file of set was written.
	written time.Time
	looked  time.Time // of the last check
}

// NewFileSource reads the file and returns a source. It refuses an unreadable file, one refused by
// ParseKeySet, and a private key readable by others. The error is one line for the operator.
func NewFileSource(o FileOptions) (*FileSource, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Log = orDiscard(o.Log)
	s := &FileSource{options: o, looked: o.Now()}
	raw, info, err := readFile(o.Path)
	if err != nil {
		return nil, fmt.Errorf("JWKS file %q: %w", o.Path, bare(err))
	}
	if s.set, err = ParseKeySet(raw); err != nil {
		return nil, fmt.Errorf("JWKS file %q: %w", o.Path, err)
	}
	if s.set.exposed && info.Mode().Perm()&notOwner != 0 {
		return nil, fmt.Errorf("JWKS file %q: %w", o.Path, errExposed)
	}
	s.seen, s.written = info, info.ModTime()
	reportSet(o.Log, s.set, "file", o.Path)
	return s, nil
}

// Keys implements KeySource. It never fails, since there always is a last good set.
func (s *FileSource) Keys(_ context.Context, missing bool) (KeySet, error) {
	set, report := s.current(missing)
	// Without the lock: a blocked log does not block other callers.
	report()
	return set, nil
}

// current checks the file if the check is due. It returns the set, and a function to log the
// check's result.
func (s *FileSource) current(missing bool) (KeySet, func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	report := func() {}
	now := s.options.Now()
	if age := now.Sub(s.looked); missing || age >= statGap || age < 0 {
		s.looked = now
		report = s.look()
	}
	return s.set, report
}

// look reads the file again if it has changed, or could not be read at the last check. It returns a function that logs
// what it found. s.mu is held.
func (s *FileSource) look() func() {
	if info, err := os.Stat(s.options.Path); err == nil && s.seen != nil && sameFile(s.seen, info) {
		return func() {}
	}
	return s.read()
}

// Reread reads the file again, whether it has changed or not.
func (s *FileSource) Reread() {
	s.mu.Lock()
	s.unread = ""
	report := s.read()
	s.mu.Unlock()
	report()
}

// read reads the file, and returns a function to log the result. s.mu is held.
func (s *FileSource) read() func() {
	raw, info, err := readFile(s.options.Path)
	if err != nil {
		cause := bare(err)
		logged := cause.Error() == s.unread
		s.seen, s.unread = nil, cause.Error()
		if logged {
			return func() {}
		}
		return s.broken(cause)
	}
	s.seen, s.unread = info, ""
	set, err := readKeySet(raw)
	if err != nil {
		return s.broken(err)
	}
	s.set, s.written = set, info.ModTime()
	return func() { reportSet(s.options.Log, set, "file", s.options.Path) }
}

// broken returns a function that logs why the file can't be used.
func (s *FileSource) broken(cause error) func() {
	return func() {
		s.options.Log.Warn("JWKS file can't be read; the last good keys stay in use", "file", s.options.Path, "error", cause)
	}
}

func sameFile(a, b os.FileInfo) bool {
	return a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size() && os.SameFile(a, b)
}

// readFile returns the content of a file and the state of the same file. A file replaced meanwhile
// then shows as changed at the next check.
func readFile(path string) ([]byte, os.FileInfo, error) {
	// The check comes first, since opening a pipe waits for its writer.
	if info, err := os.Stat(path); err != nil {
		return nil, nil, err
	} else if !info.Mode().IsRegular() {
		return nil, nil, errNotAFile
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(file, maxKeySetSize+1))
	return raw, info, err
}

// bare returns the cause of an os.PathError, whose operation and path the message has already.
func bare(err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err
	}
	return err
}
