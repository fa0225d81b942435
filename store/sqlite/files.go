package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
)

// LockName is the name of the lock file in the data folder. It is empty and stays.
const LockName = "portcullis.lock"

// fileName is the name of the data file.
const fileName = "portcullis.db"

// prepare makes the folder and the file where they are absent, both for the owner alone. SQLite makes
// its -wal and -shm with the mode of the file.
func prepare(dir string) (path string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("the data folder can't be made: %w", err)
	}
	path = filepath.Join(dir, fileName)
	if err := emptied(path); err != nil {
		return "", err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", fmt.Errorf("the data file can't be opened: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("the data file can't be read: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := f.Chmod(0o600); err != nil {
			return "", fmt.Errorf("the data file is open to others: %w", err)
		}
	}
	return path, syncDir(dir)
}

// emptied returns an error for a file that is empty or not there beside a log with contents: SQLite would
// remove the log.
func emptied(path string) error {
	size := func(name string) int64 {
		info, err := os.Stat(name)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	if size(path) == 0 && size(path+"-wal") > 0 {
		return fmt.Errorf("the data file %s is %w: it is empty, and its log %s-wal is not", path, ErrCorrupt, path)
	}
	return nil
}

// syncDir makes a new file's name durable, which a sync of its content does not.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("the data folder can't be read: %w", err)
	}
	defer func() { _ = d.Close() }()
	if err := d.Sync(); err != nil && !errors.Is(err, fs.ErrInvalid) && !errors.Is(err, syscall.EINVAL) {
		return fmt.Errorf("the data folder can't be synced: %w", err)
	}
	return nil
}

// lock locks the folder for this process. The kernel unlocks it when the process ends, even if it is killed. The lock
// file is never removed: two processes could then lock two files of one name.
func lock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, LockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the data folder can't be locked: %w", err)
	}
	switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		_ = f.Close()
		return nil, fmt.Errorf("the data folder %s is %w", dir, ErrInUse)
	case err != nil:
		_ = f.Close()
		return nil, fmt.Errorf("the data folder can't be locked: %w", err)
	}
	return f, nil
}

// unlock unlocks the folder explicitly. A process started meanwhile may have a copy of the descriptor for a moment, and
// would keep the lock after Close.
func unlock(f *os.File) error {
	return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
}

// dsn returns the data source name with the pragmas for every connection of a pool: a pragma run once is one
// connection's. The log is moved into the file by moveLog alone. fullfsync makes macOS write through the drive's cache;
// elsewhere it has no effect.
func dsn(path string, reader bool) string {
	q := url.Values{
		"_busy_timeout": {"5000"},
		"_journal_mode": {"WAL"},
		"_synchronous":  {"FULL"},
		"_txlock":       {"immediate"},
		"_dqs":          {"0"},
		"_defensive":    {"1"},
		"_pragma":       {"fullfsync(1)", "checkpoint_fullfsync(1)", "journal_size_limit(67108864)", "wal_autocheckpoint(0)"},
	}
	if reader {
		q.Set("_txlock", "deferred")
		q.Set("_query_only", "1")
	}
	return location(path, q)
}

// lookOnly are the settings of a read-only connection. Unlike a writing one it does not move the log when it closes
// last.
func lookOnly() url.Values { return url.Values{"mode": {"ro"}, "_busy_timeout": {"5000"}} }

// location returns the URI of a file with an absolute or relative path. It has no "//" behind "file:", since SQLite
// would read a host after it.
func location(path string, q url.Values) string {
	return (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: q.Encode()}).String()
}

// Exists reports whether the folder holds a store.
func Exists(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, fileName))
	return err == nil
}
