package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/masterkey"
	"github.com/portcullis-authz/portcullis/store/records"
)

// TestAVerificationLeavesTheMasterKey of the store as it is, whichever key stands first in the file that it is given.
func TestAVerificationLeavesTheMasterKey(t *testing.T) {
	dir, c := t.TempDir(), records.NewCollections()
	file := masterkey.File{DataDir: dir}
	inUse, err := file.ReadOrMake()
	if err != nil {
		t.Fatal(err)
	}
	check := func() error {
		opened, err := openStore(t.Context(), config.Store{DataDir: dir}, c, nil)
		if err != nil {
			return err
		}
		return errors.Join(masterkey.CheckStore(t.Context(), opened, c, inUse), opened.Close())
	}
	if err := check(); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Add(masterkey.First); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "decisions"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := verifyDecisions(t.Context(), io.Discard, config.Store{DataDir: dir}); err != nil {
		t.Fatal(err)
	}
	if err := check(); err != nil {
		t.Errorf("after a verification: %v", err)
	}
	other := masterkey.File{DataDir: t.TempDir()}
	if _, err := other.ReadOrMake(); err != nil {
		t.Fatal(err)
	}
	err = verifyDecisions(t.Context(), io.Discard, config.Store{DataDir: dir, MasterKeyFile: filepath.Join(other.DataDir, masterkey.FileName)})
	if !errors.Is(err, masterkey.ErrOtherKey) {
		t.Errorf("with another key: %v", err)
	}
}
