// Package scratch makes the working folders of commands: for a copy of a store, and for a file to be renamed into its
// place. A command locks its folder while it runs, so later commands can remove the folders of killed ones.
package scratch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	prefix   = ".portcullis-store-"
	lockName = "lock"
)

// ErrTaken is Lock's error for a file locked, removed or replaced by another process.
var ErrTaken = errors.New("in use by another command")

// Folder is the folder of one command.
type Folder struct {
	Path string
	held *os.File
}

// Make makes a folder in dir for its owner alone. It removes what killed commands of this user left there, and calls
// swept with each path. With "" for dir it is the system's folder of temporary files; swept may be nil.
func Make(dir string, swept func(path string)) (Folder, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	for _, path := range sweep(dir) {
		if swept != nil {
			swept(path)
		}
	}
	for {
		path, err := os.MkdirTemp(dir, prefix+"*")
		if err != nil {
			return Folder{}, err
		}
		held, err := hold(path, os.O_CREATE)
		switch {
		case err == nil:
			return Folder{path, held}, nil
		case !errors.Is(err, ErrTaken): // else another command swept it before it was locked
			return Folder{}, errors.Join(err, os.RemoveAll(path))
		}
	}
}

// File returns the path of the folder's file with this name.
func (f Folder) File(name string) string { return filepath.Join(f.Path, name) }

// Remove removes the folder with everything in it. It removes the lock file last, because a later command removes what is
// left only if there is a lock file, which nobody holds.
func (f Folder) Remove() error {
	entries, err := os.ReadDir(f.Path)
	for _, e := range entries {
		if e.Name() != lockName {
			err = errors.Join(err, os.RemoveAll(f.File(e.Name())))
		}
	}
	if err == nil {
		err = os.RemoveAll(f.Path)
	}
	return errors.Join(err, f.held.Close())
}

// sweep removes the folders of this user's killed commands from dir, and returns the paths of the non-empty ones.
func sweep(dir string) (removed []string) {
	entries, _ := os.ReadDir(dir) // the command meets the error when it makes its folder
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !strings.HasPrefix(e.Name(), prefix) || !owned(path) {
			continue
		}
		_ = os.Remove(path) // empty: its command was killed before it had the lock, or will make another one
		held, err := hold(path, 0)
		if err != nil {
			continue
		}
		f := Folder{path, held}
		entries, _ := os.ReadDir(path)
		if f.Remove() == nil && len(entries) > 1 {
			removed = append(removed, path)
		}
	}
	return removed
}

// owned reports whether a path is a folder of this user. In a folder of all users nobody else can exchange it.
func owned(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// hold locks a folder. The kernel unlocks it when the process ends, even if it is killed. A file in it is locked, since
// on a network's disk a folder is locked on one machine alone.
func hold(path string, create int) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR|create, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrTaken
	}
	if err != nil {
		return nil, err
	}
	if err = Lock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Lock locks an open file until it is closed. The error is ErrTaken if another process has it locked, or if its name is
// another file by now.
func Lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrTaken
	}
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if now, err := os.Stat(f.Name()); err != nil || !os.SameFile(now, info) {
		return ErrTaken
	}
	return nil
}
