package sqlite_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/sqlite"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestOverwrittenInAMove guarantees that a file overwritten during a move of the log is found by its contents: its time
// of change shows nothing then. That the move before took a part of the log alone, since somebody read an older
// snapshot, changes nothing.
func TestOverwrittenInAMove(t *testing.T) {
	for name, happens := range overwritings() {
		if name == "in one page" || strings.Contains(name, "itself") && !strings.Contains(name, "older") || strings.Contains(name, "log") {
			continue
		}
		for how, begin := range map[string]func(*testing.T, *sqlite.Store) (end func()){
			"after a whole one": func(*testing.T, *sqlite.Store) func() { return func() {} }, "after a part": read,
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				dir, older := filepath.Join(t.TempDir(), "data"), t.TempDir()
				s := openPairs(t, dir)
				shell(t, `cp "$1"/portcullis.db* "$2"`, dir, older)
				end := begin(t, s)
				mustWrite(t, s, 0)
				must.Do(t, s.MoveLog(t.Context(), func() {}))
				end()
				mustWrite(t, s, 1)
				must.Do(t, s.MoveLog(t.Context(), func() { happens(t, dir, older) }))
				if s.Condition().Lost == nil {
					t.Error("not lost")
				}
				wantNoReads(t, s)
			})
		}
	}
}

// TestOverwrittenBeforeAMove guarantees that the store moves its log into no foreign file, also if the file was
// overwritten between the change and the move.
func TestOverwrittenBeforeAMove(t *testing.T) {
	dir, older := filepath.Join(t.TempDir(), "data"), t.TempDir()
	s := openPairs(t, dir)
	mustWrite(t, s, 0)
	shell(t, `cp "$1"/portcullis.db* "$2"`, dir, older)
	must.Do(t, s.MoveLog(t.Context(), func() {}))
	mustWrite(t, s, 1)
	must.Do(t, s.Checkpoint(t.Context(), func() { overwritings()["with an older copy of itself"](t, dir, older) }))
	if s.Condition().Lost == nil {
		t.Error("not lost")
	}
	wantNoReads(t, s)
}

// TestRequestThatGoesAwayInAMove guarantees that the store knows its own files again, also if the client of the change
// with the move leaves meanwhile.
func TestRequestThatGoesAwayInAMove(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := openPairs(t, dir)
	mustWrite(t, s, 0)
	ctx, leave := context.WithCancel(t.Context())
	must.Do(t, s.MoveLog(ctx, leave))
	if lost := s.Condition().Lost; lost != nil {
		t.Error(lost)
	}
	mustWrite(t, s, 1)
}

// TestAnOlderLogStopsTheStart guarantees that SQLite moves no older log into a newer file of the same store: pages of an
// older state would be written over newer ones.
func TestAnOlderLogStopsTheStart(t *testing.T) {
	dir, older := filepath.Join(t.TempDir(), "data"), t.TempDir()
	s := openPairs(t, dir)
	mustWrite(t, s, 0)
	shell(t, `cp "$1"-wal "$2"-wal`, dataFile(dir), dataFile(older))
	mustWrite(t, s, 1)
	must.Do(t, s.MoveLog(t.Context(), func() {}))
	for name, refused := range map[string]bool{older: true, dir: false} {
		killed := image(t, dataFile(dir), name)
		_, err := sqlite.Snapshot(t.Context(), killed, filepath.Join(t.TempDir(), "copy"))
		if errors.Is(err, sqlite.ErrCorrupt) != refused {
			t.Errorf("a snapshot: %v", err)
		}
		if refused {
			unchanged(t, killed, func() { refuse(t, killed, sqlite.ErrCorrupt) })
		} else {
			startsWhole(t, killed, []string{"id-0", "id-1"})
		}
	}
}

// read holds a snapshot until end is called.
func read(t *testing.T, s *sqlite.Store) (end func()) {
	t.Helper()
	begun, enough, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		done <- s.View(t.Context(), func(store.Tx) error {
			close(begun)
			<-enough
			return nil
		})
	}()
	<-begun
	return func() {
		close(enough)
		must.Do(t, <-done)
	}
}
