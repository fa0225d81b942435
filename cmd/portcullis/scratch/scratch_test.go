package scratch_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/scratch"
)

// names returns what is in a folder.
func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// TestFoldersOfKilledCommandsAreRemoved guarantees that Make removes and reports them. It keeps those of running
// commands, files, and folders of other names.
func TestFoldersOfKilledCommandsAreRemoved(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	running, err := scratch.Make(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	killed := filepath.Join(dir, ".portcullis-store-1")
	if err := errors.Join(
		os.MkdirAll(filepath.Join(killed, "data"), 0o700), os.WriteFile(filepath.Join(killed, "lock"), nil, 0o600), os.Mkdir(filepath.Join(dir, ".portcullis-store-2"), 0o700), os.WriteFile(filepath.Join(killed, "data", "portcullis.db"), []byte("x"), 0o600),
		os.Mkdir(filepath.Join(dir, ".portcullis-other"), 0o700), os.WriteFile(filepath.Join(dir, ".portcullis-store-file"), nil, 0o600),
		os.Symlink(elsewhere, filepath.Join(dir, ".portcullis-store-link")),
	); err != nil {
		t.Fatal(err)
	}
	var named []string
	made, err := scratch.Make(dir, func(path string) { named = append(named, path) })
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(named, []string{killed}) {
		t.Errorf("%q", named)
	}
	if info, err := os.Stat(made.Path); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", info, err)
	}
	if err := errors.Join(made.Remove(), running.Remove()); err != nil {
		t.Error(err)
	}
	if rest := names(t, dir); !slices.Equal(rest, []string{".portcullis-other", ".portcullis-store-file", ".portcullis-store-link"}) {
		t.Errorf("left are %q", rest)
	}
	if rest := names(t, elsewhere); len(rest) > 0 {
		t.Errorf("behind the link: %q", rest)
	}
}

// TestCommandsAtOnceHaveFoldersOfTheirOwn guarantees that no command removes another's.
func TestCommandsAtOnceHaveFoldersOfTheirOwn(t *testing.T) {
	dir := t.TempDir()
	var running sync.WaitGroup
	for range 16 {
		running.Go(func() {
			for range 40 {
				f, err := scratch.Make(dir, func(path string) { t.Errorf("%s was removed", path) })
				if err != nil {
					t.Error(err)
					return
				}
				if err := errors.Join(os.WriteFile(f.File("mine"), nil, 0o600), f.Remove()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	if rest := names(t, dir); len(rest) > 0 {
		t.Errorf("left are %q", rest)
	}
}
