package masterkey_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/masterkey"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/sqlite"
)

// TestStoreKeepsToItsMasterKey: with another one every API key and page token would be
// void, so nothing starts; a key that is changed over goes with the former one behind it.
func TestStoreKeepsToItsMasterKey(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, masterkey.FileName)
	start := func() error {
		master, err := masterkey.File{DataDir: dir}.ReadOrMake()
		if err != nil {
			return err
		}
		c := records.NewCollections()
		opened, err := sqlite.Open(t.Context(), sqlite.Options{Dir: dir, Schemas: c.Schemas()})
		if err != nil {
			return err
		}
		return errors.Join(masterkey.CheckStore(t.Context(), opened, c, master), opened.Close())
	}
	keep := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := start(); err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := start(); err != nil {
		t.Errorf("the same key: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := start(); err == nil || !strings.Contains(err.Error(), "backup") {
		t.Errorf("a lost key: %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("another key was made")
	}
	other := t.TempDir()
	if _, err := (masterkey.File{DataDir: other}).ReadOrMake(); err != nil {
		t.Fatal(err)
	}
	second, err := os.ReadFile(filepath.Join(other, masterkey.FileName))
	if err != nil {
		t.Fatal(err)
	}
	keep(string(first) + string(second))
	if err := start(); err != nil {
		t.Errorf("a key behind the one in use: %v", err)
	}
	keep(string(second))
	if err := start(); !errors.Is(err, masterkey.ErrOtherKey) {
		t.Errorf("the second key alone, before it was in use: %v", err)
	}
	keep(string(second) + string(first))
	if err := start(); err != nil {
		t.Errorf("changed over: %v", err)
	}
	keep(string(second))
	if err := start(); err != nil {
		t.Errorf("the former key has gone: %v", err)
	}
	keep(string(first))
	if err := start(); !errors.Is(err, masterkey.ErrOtherKey) {
		t.Errorf("back to the former key: %v", err)
	}
}
