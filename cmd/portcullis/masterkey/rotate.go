package masterkey

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/portcullis-authz/portcullis/resources"
)

// Place is where a new key goes in the file.
type Place bool

const (
	// First is in front of all keys: the new one is in use from the next start on.
	First Place = true
	// Last is behind all keys: the new one is accepted from the next start on.
	Last Place = false
)

// Add writes a new key into the file and returns its fingerprint.
func (f File) Add(at Place) (fingerprint string, err error) {
	text, err := newKey()
	if err != nil {
		return "", err
	}
	m, err := resources.ReadMasterKey(strings.NewReader(text))
	if err != nil {
		return "", err
	}
	return m.Fingerprints()[0], f.edit(func(lines []string, keys []int) []string {
		if at == Last {
			return append(lines, text)
		}
		return slices.Insert(lines, keys[0], text)
	})
}

// Use moves the last key of the file in front of the others, and returns its fingerprint. It returns an
// error where there is one key only.
func (f File) Use() (fingerprint string, err error) {
	m, err := f.Read()
	if err != nil {
		return "", err
	}
	prints := m.Fingerprints()
	if len(prints) < 2 {
		return "", fmt.Errorf("master key: %s has one key; add one first (`portcullis keys rotate`)", f.path())
	}
	return prints[len(prints)-1], f.edit(func(lines []string, keys []int) []string {
		last := keys[len(keys)-1]
		text := lines[last]
		return slices.Insert(slices.Delete(lines, last, last+1), keys[0], text)
	})
}

// edit replaces the file by one with other lines, in one step. The function is given the lines, and
// which of them are keys.
func (f File) edit(change func(lines []string, keys []int) []string) error {
	path := f.path()
	if _, err := f.Read(); err != nil {
		return err
	}
	raw, err := os.ReadFile(path)
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
	return replace(path, strings.Join(change(lines, keys), "\n")+"\n")
}

// replace writes a new file that its owner alone can read, and puts it in the place of the old one. Run by root, it has the
// old one's owner.
func replace(path, text string) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("master key: %w", err)
	}
	_, err = tmp.WriteString(text)
	if err = errors.Join(err, giveAway(tmp, path), tmp.Sync(), tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("master key: %w", errors.Join(err, os.Remove(tmp.Name())))
	}
	return nil
}

// giveAway makes the owner of the file at path that of another one: root may run the command, and the gateway's
// user has to read what it writes.
func giveAway(file *os.File, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if of, ok := info.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
		return file.Chown(int(of.Uid), int(of.Gid))
	}
	return nil
}
