package policies

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile writes a file of the policy tree in the folder dir, by its name in the tree, and makes the folders on the way.
// A reader sees the old file or the new one: the draft's name begins with a dot, and no tree has such a file. Each writer has
// a draft of its own. An error leaves no draft. Everybody may read the file.
func WriteFile(dir, name string, text []byte) error {
	path := filepath.Join(dir, filepath.FromSlash(name))
	folder, base := filepath.Dir(path), filepath.Base(path)
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // a policy is not secret
		return err
	}
	next := filepath.Join(folder, "."+base+"."+rand.Text())
	if err := os.WriteFile(next, text, 0o644); err != nil { //nolint:gosec // a policy is not secret
		return discard(next, err)
	}
	if err := os.Rename(next, path); err != nil {
		return discard(next, err)
	}
	return nil
}

// discard removes a draft after an error.
func discard(draft string, err error) error {
	if gone := os.Remove(draft); !errors.Is(gone, fs.ErrNotExist) {
		return errors.Join(err, gone)
	}
	return err
}
