package masterkey

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/scratch"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/durable"
	"github.com/portcullis-authz/portcullis/store/sqlite"
)

// FileName is the master key's file in the data folder.
const FileName = "master.key"

// File is the location of the master key.
type File struct {
	// Path is the operator's file; "" is FileName in DataDir.
	Path string
	// DataDir is the data folder.
	DataDir string
	// Swept is called with each removed folder of a killed command beside the file; it may be nil.
	Swept func(path string)
}

// Read reads the master key.
func (f File) Read() (resources.MasterKey, error) {
	path := f.path()
	key, err := readKey(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.Path != "":
		return resources.MasterKey{}, fmt.Errorf("master key: there is no %s; bring it from another replica, or make it with `head -c 32 /dev/urandom | base64` and chmod 600", path)
	case errors.Is(err, fs.ErrNotExist):
		return resources.MasterKey{}, fmt.Errorf("master key: there is no %s; start `portcullis serve` once with this --data-dir, or name the file with --master-key-file", path)
	case err != nil:
		return resources.MasterKey{}, fmt.Errorf("master key: %w", err)
	}
	return key, nil
}

// ReadOrMake reads the master key. In the data folder it makes a missing one, unless the
// folder has a store already; a named file is never made.
func (f File) ReadOrMake() (resources.MasterKey, error) {
	if f.Path == "" {
		if err := f.makeKey(); err != nil {
			return resources.MasterKey{}, fmt.Errorf("master key: %w", err)
		}
	}
	return f.Read()
}

// path returns the master key's file.
func (f File) path() string {
	if f.Path != "" {
		return f.Path
	}
	return filepath.Join(f.DataDir, FileName)
}

// readKey reads a key file and refuses an exposed one.
func readKey(path string) (resources.MasterKey, error) {
	info, err := os.Stat(path)
	if err != nil {
		return resources.MasterKey{}, err
	}
	if exposed(info, os.Geteuid()) {
		return resources.MasterKey{}, fmt.Errorf("other users can read %s; run chmod 600 on it", path)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return resources.MasterKey{}, err
	}
	key, err := resources.ReadMasterKey(bytes.NewReader(raw))
	if err != nil {
		return resources.MasterKey{}, fmt.Errorf("%s: %w", path, err)
	}
	return key, nil
}

// exposed reports whether others than this user can read or change the file. A mounted secret is root's, and the user
// reads it by its group, chosen by root.
func exposed(info fs.FileInfo, user int) bool {
	rights := info.Mode().Perm() & 0o077
	stat, ok := info.Sys().(*syscall.Stat_t)
	if ok && stat.Uid == 0 && user != 0 {
		rights &^= 0o040
	}
	return rights != 0
}

// makeKey writes 32 random bytes, in one step and never over an existing file.
func (f File) makeKey() error {
	dir, path := f.DataDir, f.path()
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if sqlite.Exists(dir) {
		return fmt.Errorf("%s is missing, and the data folder has a store that was made with it: bring the file back from where it is kept, "+
			"since no backup of the store has it; another key would void every API key", path)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	key, err := newKey()
	if err != nil {
		return err
	}
	if err := f.place(key + "\n"); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil // another start has made one meanwhile
}

// place makes the data folder's key file in one step. The error is fs.ErrExist if there is one.
func (f File) place(text string) (err error) {
	work, err := scratch.Make(f.DataDir, f.Swept)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, work.Remove()) }()
	made, err := write(work.File(FileName), text)
	if err != nil {
		return err
	}
	if err := errors.Join(made.Sync(), made.Close()); err != nil {
		return err
	}
	// A link, unlike a rename, never takes the place of a file.
	if err := os.Link(made.Name(), f.path()); err != nil {
		return err
	}
	return durable.SyncDir(f.DataDir)
}

// write makes a file readable by its owner only, and does not close it.
func write(path, text string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err := f.WriteString(text); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Exists reports whether a data folder has a master key.
func Exists(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, FileName))
	return err == nil
}

// newKey returns 32 random bytes as a line of the file.
func newKey() (string, error) {
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(key), nil
}

// CopyTo copies the master key into another data folder, in one step. It refuses a folder with another key.
func (f File) CopyTo(dir string) error {
	if _, err := f.Read(); err != nil {
		return err
	}
	raw, err := os.ReadFile(f.path())
	if err != nil {
		return fmt.Errorf("master key: %w", err)
	}
	target := File{DataDir: dir, Swept: f.Swept}
	err = target.place(string(raw))
	if errors.Is(err, fs.ErrExist) {
		if now, err := os.ReadFile(target.path()); err == nil && bytes.Equal(now, raw) {
			return nil // an interrupted copy has made it
		}
		return fmt.Errorf("the folder %s has a master key of its own, and no key is overwritten: leave --with-master-key out, or move that key away", dir)
	}
	if err != nil {
		return fmt.Errorf("master key: %w", err)
	}
	return nil
}
