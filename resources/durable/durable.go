// Package durable writes files that are whole or not there.
package durable

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Write replaces a file in one step. Only its owner can read it. SyncDir keeps its name over a crash.
func Write(path string, content []byte) error {
	return Fill(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// Fill is Write for what fill writes. An error leaves the old file.
func Fill(path string, fill func(io.Writer) error) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp") // with mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(tmp.Name())
		}
	}()
	err = fill(tmp)
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// SyncDir makes the names of the files in a folder durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
