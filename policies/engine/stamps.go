package engine

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// settledAfter is how much older than its reading a file must be for its time to say
// whether it is the same still: what was written within one tick of the file system's
// clock has one time, and the coarsest of these clocks ticks every two seconds.
const settledAfter = 2 * time.Second

var errChanged = errors.New("changed")

// stamps are the files of a tree as they were just before they were read, and when the
// reading began.
type stamps struct {
	files map[string]fs.FileInfo
	began time.Time
}

// unchanged says whether the files are those that were read, as far as can be told
// without reading them: the very same ones, of the same size and time. A large tree that
// is read several times a second would be a load of its own.
func (s *stamps) unchanged(fsys fs.FS) bool {
	seen := 0
	err := walk(fsys, ".", 0, func(name string, info fs.FileInfo) error {
		seen++
		was := s.files[name]
		if was == nil || !os.SameFile(was, info) || was.Size() != info.Size() || !was.ModTime().Equal(info.ModTime()) ||
			!info.ModTime().Before(s.began.Add(-settledAfter)) {
			return errChanged
		}
		return nil
	})
	return err == nil && seen == len(s.files)
}
