package sqlite_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/sqlite"
	"github.com/portcullis-authz/portcullis/test/must"
)

// noticed waits until the store has found its folder lost: within 2 s.
func noticed(t *testing.T, s *sqlite.Store) error {
	t.Helper()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); <-again.C {
		if lost := s.Condition().Lost; lost != nil {
			return lost
		}
	}
	t.Fatal("not noticed within 2 s")
	return nil
}

// accidents are what can happen to the folder of a running process. Each returns after it has happened.
func accidents() map[string]func(t *testing.T, dir string) {
	return map[string]func(t *testing.T, dir string){
		"the folder is removed": func(t *testing.T, dir string) { must.Do(t, os.RemoveAll(dir)) },
		"the folder is another one": func(t *testing.T, dir string) {
			other := filepath.Join(t.TempDir(), "other")
			s := openPairs(t, other)
			mustWrite(t, s, 1)
			must.Do(t, s.Close())
			must.Do(t, os.Rename(dir, dir+".old"))
			must.Do(t, os.Rename(other, dir))
		},
		"the log is removed":  func(t *testing.T, dir string) { must.Do(t, os.Remove(filepath.Join(dir, "portcullis.db-wal"))) },
		"the file is removed": func(t *testing.T, dir string) { must.Do(t, os.Remove(filepath.Join(dir, "portcullis.db"))) },
		"the file is a copy": func(t *testing.T, dir string) {
			path := filepath.Join(dir, "portcullis.db")
			raw := must.Get(os.ReadFile(path))(t)
			must.Do(t, os.WriteFile(path+".new", raw, 0o600))
			must.Do(t, os.Rename(path+".new", path))
		},
	}
}

// TestLostFolderIsNoticed within 2 s: no change is answered after it happened, reads go on, the store is not
// well, and the reason names the remedy.
func TestLostFolderIsNoticed(t *testing.T) {
	for name, happens := range accidents() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			s := openPairs(t, dir)
			mustWrite(t, s, 1)
			happens(t, dir)
			if err := writePair(t.Context(), s, "account-0", "id-2"); err == nil {
				t.Error("a change was answered that a restart would not find")
			}
			lost := noticed(t, s)
			if !strings.Contains(lost.Error(), "portcullis store restore") {
				t.Errorf("%v", lost)
			}
			if err := writePair(t.Context(), s, "account-0", "id-3"); !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("a change: %v", err)
			}
			if err := s.Check(t.Context()); err == nil {
				t.Error("the store is well")
			}
			if err := s.Ping(t.Context()); err != nil {
				t.Errorf("reads: %v", err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestIdleLossIsNoticed: also where nobody makes a change.
func TestIdleLossIsNoticed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := openPairs(t, dir)
	must.Do(t, os.Rename(dir, dir+".moved"))
	if lost := noticed(t, s); !strings.Contains(lost.Error(), "taken away") {
		t.Errorf("%v", lost)
	}
}

// TestALossBeforeAnybodyListensIsTold guarantees that OnChange reports a folder lost before the call. The check of
// the whole file, which begins with the store, may find damage before the log follows the folder.
func TestALossBeforeAnybodyListensIsTold(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := openPairs(t, dir)
	must.Do(t, os.Rename(dir, dir+".moved"))
	lost := noticed(t, s)
	var causes []error
	s.OnChange(func(c sqlite.Condition) { causes = append(causes, c.Lost) })
	if len(causes) != 1 || !errors.Is(causes[0], lost) {
		t.Errorf("%v", causes)
	}
}

// TestStopLeavesTheFilesOfOthers: the process whose folder was replaced removes nothing of the new one when
// it ends.
func TestStopLeavesTheFilesOfOthers(t *testing.T) {
	dir, other := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "other")
	s, next := openPairs(t, dir), openPairs(t, other)
	mustWrite(t, s, 1)
	mustWrite(t, next, 7)
	must.Do(t, os.Rename(dir, dir+".old"))
	must.Do(t, os.Rename(other, dir))
	_ = noticed(t, s)
	before := must.Get(os.ReadFile(filepath.Join(dir, "portcullis.db-wal")))(t)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if after, err := os.ReadFile(filepath.Join(dir, "portcullis.db-wal")); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the log of the new folder: %d bytes, then %d, %v", len(before), len(after), err)
	}
}

// TestDamagedFileStopsTheStart, with the file's name, and it is not changed.
func TestDamagedFileStopsTheStart(t *testing.T) {
	dir := t.TempDir()
	s := openPairs(t, dir)
	for n := range 200 {
		mustWrite(t, s, n)
	}
	must.Do(t, s.Close())
	path := filepath.Join(dir, "portcullis.db")
	raw := must.Get(os.ReadFile(path))(t)
	copy(raw[len(raw)/2:], bytes.Repeat([]byte{0xa5}, len(raw)/4))
	must.Do(t, os.WriteFile(path, raw, 0o600))
	entries, twins := pairCollections()
	unchanged(t, dir, func() {
		_, err := sqlite.Open(t.Context(), sqlite.Options{Dir: dir, Schemas: []*store.Schema{entries.Schema(), twins.Schema()}})
		if !errors.Is(err, sqlite.ErrCorrupt) || !strings.Contains(err.Error(), path) {
			t.Errorf("%v", err)
		}
	})
}
