package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/sqlite"
	"github.com/portcullis-authz/portcullis/test/must"
)

// shell runs a command in a process of its own, as an operator does: to open and close the data file in this
// one would end SQLite's locks on it.
func shell(t *testing.T, text string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "sh", append([]string{"-c", text, "sh"}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v %s", text, err, out)
	}
}

// dataFile returns the data file of a folder.
func dataFile(dir string) string { return filepath.Join(dir, "portcullis.db") }

// writeUntilMoved writes until the data file has grown: the log was moved into it.
func writeUntilMoved(t *testing.T, s *sqlite.Store, dir string, start int) (last int) {
	t.Helper()
	size := func() int64 {
		info := must.Get(os.Stat(dataFile(dir)))(t)
		return info.Size()
	}
	for before, n := size(), start; n < start+2000; n++ {
		mustWrite(t, s, n)
		if size() > before {
			return n
		}
	}
	t.Fatal("the log was never moved into the file")
	return 0
}

// overwritings are what another process can write to the files of a running one. The folder copy has the
// files as they were before the log was moved the last time.
func overwritings() map[string]func(t *testing.T, dir, older string) {
	return map[string]func(t *testing.T, dir, older string){
		"with another store": func(t *testing.T, dir, _ string) {
			other := filepath.Join(t.TempDir(), "other")
			s := openPairs(t, other)
			mustWrite(t, s, 7)
			must.Do(t, s.Close())
			shell(t, `cat "$1" >"$2"`, dataFile(other), dataFile(dir))
		},
		"with an older copy of itself": func(t *testing.T, dir, older string) {
			shell(t, `cat "$1" >"$2"`, dataFile(older), dataFile(dir))
		},
		"with itself": func(t *testing.T, dir, _ string) {
			shell(t, `cp "$1" "$1.copy" && cat "$1.copy" >"$1"`, dataFile(dir))
		},
		"with nothing": func(t *testing.T, dir, _ string) { shell(t, `: >"$1"`, dataFile(dir)) },
		"in one page": func(t *testing.T, dir, _ string) {
			shell(t, `dd if=/dev/urandom of="$1" bs=4096 seek=5 count=1 conv=notrunc 2>&1`, dataFile(dir))
		},
		"in its log": func(t *testing.T, dir, _ string) { shell(t, `: >"$1-wal"`, dataFile(dir)) },
		"with all files of an older copy": func(t *testing.T, dir, older string) {
			shell(t, `for f in portcullis.db portcullis.db-wal portcullis.db-shm; do cat "$1/$f" >"$2/$f"; done`, older, dir)
		},
		"by a statement": func(t *testing.T, dir, _ string) {
			must.Get(raw(t, dataFile(dir)).ExecContext(t.Context(), "UPDATE entries SET body = x'7b7d'"))(t)
		},
	}
}

// overwritten opens a store, and has its files overwritten after the log was moved.
func overwritten(t *testing.T, happens func(t *testing.T, dir, older string)) *sqlite.Store {
	t.Helper()
	dir, older := filepath.Join(t.TempDir(), "data"), t.TempDir()
	s := openPairs(t, dir)
	mustWrite(t, s, 0)
	shell(t, `cp "$1"/portcullis.db* "$2"`, dir, older)
	last := writeUntilMoved(t, s, dir, 1)
	mustWrite(t, s, last+1)
	happens(t, dir, older)
	return s
}

// TestOverwrittenFileTakesNoChange, from the first one on: none is answered that a restart would not find. The
// store is lost, and names the remedy.
func TestOverwrittenFileTakesNoChange(t *testing.T) {
	t.Parallel()
	for name, happens := range overwritings() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := overwritten(t, happens)
			if err := writePair(t.Context(), s, "account-0", "after"); !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("a change: %v", err)
			}
			if lost := s.Condition().Lost; lost == nil || !strings.Contains(lost.Error(), "overwritten under the running process") || !strings.Contains(lost.Error(), "portcullis store restore") {
				t.Errorf("%v", lost)
			}
			if err := s.Check(t.Context()); err == nil {
				t.Error("the store is well")
			}
		})
	}
}

// TestIdleOverwritingIsNoticed within 2 s, also where nobody reads or makes a change.
func TestIdleOverwritingIsNoticed(t *testing.T) {
	t.Parallel()
	for name, happens := range overwritings() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_ = noticed(t, overwritten(t, happens))
		})
	}
}

// wantNoReads wants every read refused.
func wantNoReads(t *testing.T, s *sqlite.Store) {
	t.Helper()
	entries, _ := pairCollections()
	for range 2 {
		err := s.View(t.Context(), func(tx store.Tx) error {
			_, err := entries.Get(t.Context(), tx, "id-1")
			return err
		})
		if !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("a read: %v", err)
		}
	}
	if _, _, err := s.Changes(t.Context(), 0, 10); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a read of changes: %v", err)
	}
}

// TestOverwrittenFileIsNotRead: no read is answered with what another process wrote to the data file, and none
// once it is noticed that another process wrote to the log.
func TestOverwrittenFileIsNotRead(t *testing.T) {
	t.Parallel()
	for name, happens := range overwritings() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := overwritten(t, happens)
			if name == "in its log" || name == "by a statement" {
				_ = noticed(t, s)
			}
			wantNoReads(t, s)
		})
	}
}

// TestOverwrittenWhileItWrites: whenever an older copy is written over the file, also while the log is moved
// into it, the store is lost within 2 s. A start finds what was answered, or refuses the file.
func TestOverwrittenWhileItWrites(t *testing.T) {
	t.Parallel()
	for round := range 12 {
		dir, older := filepath.Join(t.TempDir(), "data"), t.TempDir()
		s := openPairs(t, dir)
		mustWrite(t, s, 0)
		shell(t, `cp "$1"/portcullis.db "$2"`, dir, older)
		acked, enough := []string{"id-0"}, make(chan struct{})
		var writer sync.WaitGroup
		writer.Go(func() {
			for n := 1; ; n++ {
				id := fmt.Sprint("id-", n)
				if err := writePair(t.Context(), s, "account-0", id); err != nil {
					return
				}
				if acked = append(acked, id); n == 5*(round+1) {
					close(enough)
				}
			}
		})
		<-enough
		shell(t, `cat "$1" >"$2"`, dataFile(older), dataFile(dir))
		_ = noticed(t, s)
		writer.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		startsWhole(t, dir, acked)
	}
}

// startsWhole opens a folder, and wants what was answered, or a refusal of the file.
func startsWhole(t *testing.T, dir string, acked []string) {
	t.Helper()
	entries, twins := pairCollections()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Dir: dir, Schemas: []*store.Schema{entries.Schema(), twins.Schema()}})
	if errors.Is(err, sqlite.ErrCorrupt) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	verifyPresence(t, s, acked, nil)
}

// TestForeignLogStopsTheStart: a file beside the log of another one, or of a newer state of it, is refused and
// not changed. In the older one SQLite finds no fault: what is missing is a change of one value.
func TestForeignLogStopsTheStart(t *testing.T) {
	dir, older := filepath.Join(t.TempDir(), "data"), t.TempDir()
	c := pets("")
	var all []pet
	for n := range 300 {
		all = append(all, pet{ID: fmt.Sprintf("%0200d", n), Kind: "a"})
	}
	putPets(t, dir, c, all...)
	s := open(t, dir, c.Schema())
	shell(t, `cp "$1"/portcullis.db "$2"`, dir, older)
	changePet(t, s, c, all[0].ID)
	began := logHeader(t, dir)
	for tries := 0; logHeader(t, dir) == began; tries++ { // a log that somebody reads is not begun anew, and follows the older file, too
		if err := s.MoveLog(t.Context(), func() {}); err != nil || tries == 100 {
			t.Fatal(err, tries)
		}
		changePet(t, s, c, all[299].ID)
	}
	other := filepath.Join(t.TempDir(), "other")
	putPets(t, other, c, all...)
	for name, source := range map[string]string{
		"older": dataFile(older), "of another store": dataFile(other), "empty": "/dev/null",
	} {
		t.Run(name, func(t *testing.T) {
			killed := image(t, source, dir)
			log := func() string {
				raw := must.Get(os.ReadFile(dataFile(killed) + "-wal"))(t)
				return string(raw)
			}
			before := log()
			unchanged(t, killed, func() { refuse(t, killed, sqlite.ErrCorrupt) })
			if log() != before {
				t.Error("the log was changed")
			}
			if _, err := sqlite.Snapshot(t.Context(), killed, filepath.Join(t.TempDir(), "copy")); !errors.Is(err, sqlite.ErrCorrupt) {
				t.Errorf("a snapshot: %v", err)
			}
		})
	}
	t.Run("its own", func(t *testing.T) {
		killed := image(t, dataFile(dir), dir)
		wantPets(t, findPets(t, killed, pets("kind", store.Index{Name: "by_kind", Columns: []string{"kind"}}), store.Query{
			Index: "by_kind", Equal: []store.Value{store.String("b")},
		}), all[0].ID+" "+all[299].ID)
	})
}

// logHeader is what tells the log of a store from the one before it.
func logHeader(t *testing.T, dir string) string {
	t.Helper()
	raw, err := os.ReadFile(dataFile(dir) + "-wal")
	if err != nil || len(raw) < 32 {
		t.Fatal(err, len(raw))
	}
	return string(raw[:32])
}

// changePet changes one value of a record.
func changePet(t *testing.T, s *sqlite.Store, c store.Collection[pet], id string) {
	t.Helper()
	must.Do(t, s.Transact(t.Context(), func(tx store.Tx) error {
		rec, err := c.Get(t.Context(), tx, id)
		if err != nil {
			return err
		}
		rec.Value.Kind = "b"
		return c.Replace(t.Context(), tx, rec)
	}))
}

// image makes a folder with a data file and the log of a folder, as a killed process leaves them.
func image(t *testing.T, file, logOf string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	shell(t, `cat "$1" >"$2" && cp "$3"-wal "$2"-wal && chmod 600 "$2"*`, file, dataFile(dir), dataFile(logOf))
	return dir
}

// TestKilledBeforeTheFirstMove guarantees that a start killed between its generation and the data file leaves files for
// the next one. This holds if the start before it wrote nothing else, too.
func TestKilledBeforeTheFirstMove(t *testing.T) {
	dir, before := filepath.Join(t.TempDir(), "data"), t.TempDir()
	must.Do(t, openPairs(t, dir).Close())
	shell(t, `cp "$1" "$2"`, dataFile(dir), dataFile(before))
	openPairs(t, dir)
	openPairs(t, image(t, dataFile(before), dir))
}

// TestFileOfTheFormatBeforeIsTaken, and has the base of its log from then on.
func TestFileOfTheFormatBeforeIsTaken(t *testing.T) {
	dir := t.TempDir()
	s := openPairs(t, dir)
	mustWrite(t, s, 1)
	must.Do(t, s.Close())
	alter(t, dir, "ALTER TABLE authz_meta DROP COLUMN base_seq", "ALTER TABLE authz_meta DROP COLUMN base_generation", "PRAGMA user_version = 1")
	s = openPairs(t, dir)
	mustWrite(t, s, 2)
	verifyPresence(t, s, []string{"id-1", "id-2"}, nil)
}

// TestOthersMayReadTheFile guarantees that a copy of the folder, a check of the file and a reading statement do not
// change it.
func TestOthersMayReadTheFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := openPairs(t, dir)
	mustWrite(t, s, 1)
	shell(t, `cp -a "$1" "$2" && chmod 400 "$3" && chmod 600 "$3" && ln "$3" "$3.link" && rm "$3.link"`, dir, dir+".copy", dataFile(dir))
	if _, err := sqlite.Snapshot(t.Context(), dir, filepath.Join(t.TempDir(), "copy")); err != nil {
		t.Error(err)
	}
	var n int
	if err := raw(t, dataFile(dir)).QueryRowContext(t.Context(), "SELECT count(*) FROM entries").Scan(&n); err != nil || n != 1 {
		t.Errorf("%d %v", n, err)
	}
	verifyPresence(t, s, []string{"id-1"}, nil)
	writeUntilMoved(t, s, dir, 2) // each change looks at the files before
}
