package masterkey

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/scratch"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/durable"
)

// Place is the place of a new key in the file.
type Place bool

const (
	// First is in front of all keys: the new one is in use from the next start on.
	First Place = true
	// Last is behind all keys: the new one is accepted from the next start on.
	Last Place = false
)

// lockTime is how long a rotation waits for another one of the same file.
const lockTime = 5 * time.Second

// Add writes a new key into the file and returns its fingerprint.
func (f File) Add(place Place) (fingerprint string, err error) {
	text, err := newKey()
	if err != nil {
		return "", err
	}
	m, err := resources.ReadMasterKey(strings.NewReader(text))
	if err != nil {
		return "", err
	}
	return m.Fingerprints()[0], f.edit(func(lines []string, keys []int) ([]string, error) {
		if place == Last {
			return append(lines, text), nil
		}
		return slices.Insert(lines, keys[0], text), nil
	})
}

// Use moves the last key of the file in front of the others, and returns its fingerprint. It returns an error if there
// is one key only.
func (f File) Use() (fingerprint string, err error) {
	err = f.edit(func(lines []string, keys []int) ([]string, error) {
		if len(keys) < 2 {
			return nil, fmt.Errorf("master key: %s has one key; add one first (`portcullis keys rotate`)", f.path())
		}
		last := keys[len(keys)-1]
		text := lines[last]
		m, err := resources.ReadMasterKey(strings.NewReader(text))
		if err != nil {
			return nil, err
		}
		fingerprint = m.Fingerprints()[0]
		return slices.Insert(slices.Delete(lines, last, last+1), keys[0], text), nil
	})
	return fingerprint, err
}

// edit replaces the file by one with other lines, in one step, while no other command does. The function gets the lines
// and the indices of the keys.
func (f File) edit(change func(lines []string, keys []int) ([]string, error)) error {
	path := f.path()
	if _, err := f.Read(); err != nil {
		return err
	}
	locked, err := lock(path)
	if err != nil {
		return fmt.Errorf("master key: %s can't be locked: %w", path, err)
	}
	defer func() { _ = locked.Close() }()
	raw, err := io.ReadAll(locked)
	if err != nil {
		return fmt.Errorf("master key: %w", err)
	}
	lines := strings.Split(strings.TrimRight(string(raw), "\r\n"), "\n")
	var keys []int
	for i, line := range lines {
		if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "#") {
			keys = append(keys, i)
		}
	}
	if lines, err = change(lines, keys); err != nil {
		return err
	}
	if err := f.replace(strings.Join(lines, "\n") + "\n"); err != nil {
		return fmt.Errorf("master key: %w", err)
	}
	return nil
}

// lock opens and locks the file, and waits for lockTime at most.
func lock(path string) (*os.File, error) {
	for end := time.Now().Add(lockTime); ; time.Sleep(10 * time.Millisecond) {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		if err = scratch.Lock(f); err == nil {
			return f, nil
		}
		if err = errors.Join(err, f.Close()); !errors.Is(err, scratch.ErrTaken) || time.Now().After(end) {
			return nil, err
		}
	}
}

// replace writes a new file, readable by its owner only, and puts it in the place of the old one. Run by root, it has
// the old one's owner.
func (f File) replace(text string) (err error) {
	path := f.path()
	work, err := scratch.Make(filepath.Dir(path), f.Swept)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, work.Remove()) }()
	next, err := write(work.File(FileName), text)
	if err != nil {
		return err
	}
	if err := errors.Join(giveAway(next, path), next.Sync(), next.Close()); err != nil {
		return err
	}
	if err := os.Rename(next.Name(), path); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(path))
}

// giveAway gives the file at path the owner of the other one: root may run the command, and the gateway's user has to
// read the new file.
func giveAway(file *os.File, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
		return file.Chown(int(stat.Uid), int(stat.Gid))
	}
	return nil
}
