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

// statGap is the least time between two looks at a file that nobody misses a key of.
const statGap = time.Second

// ownerOnly masks the rights of all but the owner.
const ownerOnly = 0o077

var (
	errNotAFile = errors.New("it is not a regular file")
	errExposed  = errors.New("it has a private key, and other users can read the file: whoever has that key can sign in as anybody; " +
		"publish public keys only, and replace that key")
)

// FileOptions are the settings of a FileSource. Path is needed.
type FileOptions struct {
	// Path is a file with a JWK set.
	Path string
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Log gets what goes wrong, never a key; nil is nowhere.
	Log *slog.Logger
}

// FileSource is a KeySource that keeps the JWK set of a file.
//
// It holds the last set that could be read, without a maximum age: the file is
// the operator's own word. A changed file (time, size or identity) is seen
// within a second, or at once when a key is missing; while it is broken or gone
// the last good set serves, and the log says so once for each change.
type FileSource struct {
	options FileOptions

	mu     sync.Mutex
	set    KeySet
	seen   os.FileInfo // of the last look; nil where the file was gone
	looked time.Time
}

// NewFileSource reads the file and makes a source. A file that can't be read, that
// ParseKeySet would refuse, or that shows a private key to others, is an error: one line
// for the operator.
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
	if s.set.exposed && info.Mode().Perm()&ownerOnly != 0 {
		return nil, fmt.Errorf("JWKS file %q: %w", o.Path, errExposed)
	}
	s.seen = info
	reportSet(o.Log, s.set, "file", o.Path)
	return s, nil
}

// Keys implements KeySource. It never fails: there always is a last good set.
func (s *FileSource) Keys(_ context.Context, missing bool) (KeySet, error) {
	set, report := s.current(missing)
	// Without the lock: a log that blocks must not block the other callers.
	report()
	return set, nil
}

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

// look reads the file again where it has changed, and gives what there is to
// tell the operator. The lock is held.
func (s *FileSource) look() func() {
	before := s.seen
	info, err := os.Stat(s.options.Path)
	if err != nil {
		s.seen = nil
		if before == nil {
			return func() {}
		}
		return s.broken(err)
	}
	if before != nil && sameFile(before, info) {
		return func() {}
	}
	s.seen = info
	raw, read, err := readFile(s.options.Path)
	if err != nil {
		return s.broken(err)
	}
	s.seen = read
	set, err := readKeySet(raw)
	if err != nil {
		return s.broken(err)
	}
	s.set = set
	return func() { reportSet(s.options.Log, set, "file", s.options.Path) }
}

func (s *FileSource) broken(err error) func() {
	return func() {
		s.options.Log.Error("JWKS file can't be read; the last good keys stay in use", "file", s.options.Path, "error", bare(err))
	}
}

func sameFile(a, b os.FileInfo) bool {
	return a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size() && os.SameFile(a, b)
}

// readFile gives the content with the state of that very file: one that is
// replaced in between shows as changed at the next look.
func readFile(path string) ([]byte, os.FileInfo, error) {
	// Looked at before it is opened, since opening a pipe waits for its writer.
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

// bare drops the operation and path, which the message already has.
func bare(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
