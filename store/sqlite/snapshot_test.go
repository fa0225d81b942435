package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/portcullis-authz/portcullis/store/sqlite"
	"github.com/portcullis-authz/portcullis/test/child"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestSnapshotOfARelativeFolder takes a snapshot of a folder that is named from the working directory,
// as the default data folder is, and restores it so.
func TestSnapshotOfARelativeFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	s := openPairs(t, "data?#%41 b")
	mustWrite(t, s, 1)
	must.Get(sqlite.Snapshot(t.Context(), "data?#%41 b", filepath.Join("data?#%41 b", "copy")))(t)
	must.Do(t, os.Mkdir("new", 0o700))
	if err := sqlite.Restore(t.Context(), filepath.Join("data?#%41 b", "copy"), "new"); err != nil {
		t.Error(err)
	}
}

// TestSnapshotWithoutRoomNamesTheFolderOfTheCopy, and not the file that it copies.
func TestSnapshotWithoutRoomNamesTheFolderOfTheCopy(t *testing.T) {
	if !child.Runs(t) {
		return
	}
	dir := t.TempDir()
	s := openPairs(t, dir)
	mustWrite(t, s, 1)
	target := t.TempDir()
	child.LimitFiles(t, 40_000)
	_, err := sqlite.Snapshot(t.Context(), dir, filepath.Join(target, "copy"))
	child.LimitFiles(t, ^uint64(0))
	if err == nil || err.Error() != "there is no room for a copy of the store in "+target {
		t.Error(err)
	}
}

// TestFileWithoutAStoreIsNoBackup, neither an empty one nor one that SQLite has made without a table: Open would make a
// store without an account in it.
func TestFileWithoutAStoreIsNoBackup(t *testing.T) {
	for name, statements := range map[string][]string{"empty": nil, "without tables": {"CREATE TABLE a (b)", "DROP TABLE a"}} {
		dir, next := t.TempDir(), t.TempDir()
		shell(t, `: >"$1"`, dataFile(dir))
		alter(t, dir, statements...)
		if _, err := sqlite.Snapshot(t.Context(), dir, filepath.Join(next, "copy")); !errors.Is(err, sqlite.ErrCorrupt) {
			t.Errorf("%s: a snapshot: %v", name, err)
		}
		if err := sqlite.Restore(t.Context(), dataFile(dir), next); !errors.Is(err, sqlite.ErrCorrupt) || sqlite.Exists(next) {
			t.Errorf("%s: a restore: %v", name, err)
		}
	}
}
