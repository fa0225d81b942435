package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/engine"
)

// TestStoreKeepsToItsMasterKey: with another one every API key and page token would be
// void, so nothing starts; a key that is changed over goes with the former one behind it.
func TestStoreKeepsToItsMasterKey(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, masterKeyName)
	start := func() error {
		c, err := (&settings{dataDir: dir}).openCore(t.Context(), engine.Options{})
		if err != nil {
			return err
		}
		return c.store.Close()
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
	other := filepath.Join(t.TempDir(), masterKeyName)
	if err := makeMasterKey(filepath.Dir(other), other); err != nil {
		t.Fatal(err)
	}
	second, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	keep(string(first) + string(second))
	if err := start(); err != nil {
		t.Errorf("a key behind the one in use: %v", err)
	}
	keep(string(second))
	if err := start(); !errors.Is(err, errOtherKey) {
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
	if err := start(); !errors.Is(err, errOtherKey) {
		t.Errorf("back to the former key: %v", err)
	}
}
