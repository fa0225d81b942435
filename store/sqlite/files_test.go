package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/sqlite"
	"github.com/portcullis-authz/portcullis/store/storetest"
	"github.com/portcullis-authz/portcullis/test/must"
)

func refuse(t *testing.T, dir string, want error) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Dir: dir, Schemas: storetest.Schemas()})
	if err == nil {
		_ = s.Close()
	}
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
	if err != nil && !strings.Contains(err.Error(), dir) {
		t.Errorf("%q does not name the folder", err)
	}
	if err != nil && strings.Contains(err.Error(), "try again") {
		t.Errorf("%q ends in the advice of another error", err)
	}
}

func TestSecondOpenIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	refuse(t, dir, sqlite.ErrInUse)
	if err := s.Check(t.Context()); err != nil {
		t.Errorf("the first one: %v", err)
	}
	must.Do(t, s.Close())
	open(t, dir)
}

func TestFilesAreTheOwnersAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a folder?#%", "data")
	s := open(t, dir)
	must.Do(t, s.Check(t.Context()))
	mode := func(path string) os.FileMode {
		info := must.Get(os.Stat(path))(t)
		return info.Mode().Perm()
	}
	if got := mode(dir); got != 0o700 {
		t.Errorf("the folder has %o", got)
	}
	for _, name := range []string{"portcullis.db", "portcullis.db-wal", "portcullis.db-shm", "portcullis.lock"} {
		if got := mode(filepath.Join(dir, name)); got != 0o600 {
			t.Errorf("%s has %o", name, got)
		}
	}
}

func TestFileOpenToOthersIsClosedToThem(t *testing.T) {
	dir := t.TempDir()
	_ = open(t, dir).Close()
	path := filepath.Join(dir, "portcullis.db")
	must.Do(t, os.Chmod(path, 0o644))
	open(t, dir)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestCloseFoldsTheLogIntoTheFile(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, open(t, dir).Close())
	if info, err := os.Stat(filepath.Join(dir, "portcullis.db-wal")); err == nil && info.Size() > 0 {
		t.Errorf("the log has %d bytes", info.Size())
	}
}

// raw opens a file without the engine.
func raw(t *testing.T, path string) *sql.DB {
	t.Helper()
	db := must.Get(sql.Open("sqlite", path))(t)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// alter changes a closed file by statements of its own.
func alter(t *testing.T, dir string, texts ...string) {
	t.Helper()
	db := raw(t, filepath.Join(dir, "portcullis.db"))
	defer func() { _ = db.Close() }()
	for _, text := range texts {
		must.Get(db.ExecContext(t.Context(), text))(t)
	}
}

func TestNewerFormatIsRefusedAndKept(t *testing.T) {
	dir := t.TempDir()
	_ = open(t, dir).Close()
	alter(t, dir, "PRAGMA user_version = 3")
	unchanged(t, dir, func() { refuse(t, dir, sqlite.ErrNewerFormat) })
	alter(t, dir, "PRAGMA user_version = 2")
	open(t, dir)
}

func TestForeignDatabaseIsRefusedAndKept(t *testing.T) {
	dir := t.TempDir()
	alter(t, dir, "CREATE TABLE notes (text TEXT)")
	unchanged(t, dir, func() { refuse(t, dir, sqlite.ErrCorrupt) })
}

func TestFileWithoutItsOwnRecordIsRefused(t *testing.T) {
	dir := t.TempDir()
	_ = open(t, dir).Close()
	alter(t, dir, "DELETE FROM authz_meta")
	s, err := sqlite.Open(t.Context(), sqlite.Options{Dir: dir, Schemas: storetest.Schemas()})
	if err == nil {
		_ = s.Close()
	}
	if !errors.Is(err, sqlite.ErrCorrupt) {
		t.Errorf("got %v", err)
	}
}

func TestDamagedFileIsRefusedAndKept(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"no database": func([]byte) []byte { return []byte(strings.Repeat("not a database ", 300)) },
		"cut":         func(b []byte) []byte { return b[:len(b)/2] },
		"overwritten": func(b []byte) []byte { return append(bytes.Repeat([]byte{0xa5}, 4096), b[4096:]...) },
		"schema gone": func(b []byte) []byte { return append(b[:100:100], append(make([]byte, 3996), b[4096:]...)...) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			_ = open(t, dir).Close()
			path := filepath.Join(dir, "portcullis.db")
			b := must.Get(os.ReadFile(path))(t)
			must.Do(t, os.WriteFile(path, damage(b), 0o600))
			unchanged(t, dir, func() { refuse(t, dir, sqlite.ErrCorrupt) })
		})
	}
}

func unchanged(t *testing.T, dir string, fn func()) {
	t.Helper()
	path := filepath.Join(dir, "portcullis.db")
	before := must.Get(os.ReadFile(path))(t)
	fn()
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the file was changed: %d bytes, then %d, %v", len(before), len(after), err)
	}
}

// TestDamageMetLaterIsTold guarantees it for a page read by a query only and not written by any process. The store is
// lost.
func TestDamageMetLaterIsTold(t *testing.T) {
	c := pets("kind", store.Index{Name: "by_kind", Columns: []string{"kind"}})
	find := func(tx store.Tx) error {
		_, err := c.Find(t.Context(), tx, store.Query{Index: "by_kind"})
		return err
	}
	// SQLite may have ended the transaction at such an error, and the next write would stand alone: a caller who
	// overlooks the error gets it again at the end.
	overlook := func(tx store.Tx) error {
		if _, err := tx.Bump(t.Context(), "x"); err != nil {
			t.Errorf("Bump: %v", err)
		}
		if find(tx) == nil {
			t.Error("the damage was not met")
		}
		return nil
	}
	for name, meet := range map[string]func(*sqlite.Store) error{
		"View":     func(s *sqlite.Store) error { return s.View(t.Context(), find) },
		"Transact": func(s *sqlite.Store) error { return s.Transact(t.Context(), overlook) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := openDamaged(t, dir, c)
			if err := meet(s); !errors.Is(err, store.ErrUnavailable) || !errors.Is(err, sqlite.ErrCorrupt) {
				t.Errorf("got %v", err)
			}
			if lost := s.Condition().Lost; lost == nil || !strings.Contains(lost.Error(), filepath.Join(dir, "portcullis.db")) {
				t.Errorf("lost: %v", lost)
			}
			if err := s.Transact(t.Context(), func(store.Tx) error { return nil }); !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("a change: %v", err)
			}
			if f, err := s.Freshness(t.Context()); err != nil || f.Epoch != 0 {
				t.Errorf("%+v, %v", f, err)
			}
		})
	}
}

// openDamaged opens a store whose file a disk damages then: the time of its last change stays.
func openDamaged(t *testing.T, dir string, c store.Collection[pet]) *sqlite.Store {
	t.Helper()
	var all []pet
	for n := range 300 {
		all = append(all, pet{ID: strings.Repeat("k", 100) + string(rune('A'+n)), Kind: strings.Repeat("x", 500)})
	}
	putPets(t, dir, c, all...)
	path := filepath.Join(dir, "portcullis.db")
	b := must.Get(os.ReadFile(path))(t)
	damaged := filepath.Join(t.TempDir(), "damaged")
	must.Do(t, os.WriteFile(damaged, bytes.Repeat([]byte{0xa5}, len(b)/4), 0o600))
	s := open(t, dir, c.Schema())
	// In a process of its own: to close the file here would end SQLite's locks on it.
	shell(t, `touch -r "$2" "$1.time"; dd if="$1" of="$2" seek="$3" oflag=seek_bytes conv=notrunc 2>&1; touch -r "$1.time" "$2"`, damaged, path, fmt.Sprint(len(b)*3/4))
	return s
}

func TestEachStartIsANewGeneration(t *testing.T) {
	dir, seen := t.TempDir(), map[string]bool{}
	for range 5 {
		s := open(t, dir)
		f, err := s.Freshness(context.Background())
		if err != nil || seen[f.Generation] {
			t.Errorf("%+v, %v", f, err)
		}
		seen[f.Generation] = true
		_ = s.Close()
	}
}
