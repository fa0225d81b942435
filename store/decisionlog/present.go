package decisionlog

import (
	"errors"
	"io/fs"
	"os"
)

// errGone is of a segment that somebody removed or replaced while it was written.
var errGone = errors.New("the open segment is not in the folder any more: `portcullis decisions verify` says where decisions are missing")

// present returns an error unless the open segment is in the folder: records in a removed file are lost. It gives up a
// segment that is gone, and the next one begins.
func (w *writer) present() error {
	now, err := os.Lstat(segmentPath(w.dir, w.number, openSuffix))
	switch {
	case err == nil && os.SameFile(now, w.made):
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	err = errors.Join(errGone, w.file.Close())
	w.file, w.dirty = nil, false
	return err
}
