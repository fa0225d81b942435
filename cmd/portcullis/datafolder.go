package main

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/sqlite"
)

// masterKeyName is the master key's file in the data folder.
const masterKeyName = "master.key"

// errReadable refuses a key that others can read.
var errReadable = errors.New("other users can read it; run chmod 600 on it")

// masterKey reads the master key. In the data folder it is made where it is not
// there and create is set; a file that was named is never made.
func (s *settings) masterKey(create bool) (resources.MasterKey, error) {
	path := s.masterKeyFile
	if path == "" {
		path = filepath.Join(s.dataDir, masterKeyName)
		if create {
			if err := makeMasterKey(s.dataDir, path); err != nil {
				return resources.MasterKey{}, fmt.Errorf("master key: %w", err)
			}
		}
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return resources.MasterKey{}, fmt.Errorf("master key: there is no %s; start `portcullis serve` once with this --data-dir, or name the file with --master-key-file", path)
	}
	if err != nil {
		return resources.MasterKey{}, fmt.Errorf("master key: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return resources.MasterKey{}, fmt.Errorf("master key %s: %w", path, errReadable)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return resources.MasterKey{}, fmt.Errorf("master key: %w", err)
	}
	return resources.ReadMasterKey(bytes.NewReader(raw))
}

// makeMasterKey writes 32 random bytes, in one step and never over a file that is there.
func makeMasterKey(dir, path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if sqlite.Exists(dir) {
		return fmt.Errorf("%s is missing, and the data folder has a store that was made with it: bring it back from the backup; "+
			"another key would void every API key", path)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, masterKeyName+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // gone already once it is linked
	_, err = tmp.WriteString(base64.StdEncoding.EncodeToString(key) + "\n")
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if err := os.Link(tmp.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
