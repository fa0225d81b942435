package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/sqlite"
	"github.com/portcullis-authz/portcullis/test/child"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestWritesThatTheDiskRefuses limits the size of files, in a child of its own, so
// that the write fails in the COMMIT: what was answered stays, what was refused is not
// there, reading goes on, and so does writing when there is room again.
func TestWritesThatTheDiskRefuses(t *testing.T) {
	if !child.Runs(t) {
		return
	}
	dir := t.TempDir()
	s := openPairs(t, dir)
	var acked, refused []string
	for n := range 20 {
		acked = append(acked, mustWrite(t, s, n))
	}
	log := must.Get(os.Stat(filepath.Join(dir, "portcullis.db-wal")))(t)
	child.LimitFiles(t, uint64(log.Size())+100_000)
	// A failed commit is settled by a smaller one, until there is no room for that either.
	for n, unknown := 100, false; !unknown && n < 1000; n++ {
		id := fmt.Sprint("id-", n)
		switch err := writePair(t.Context(), s, "account-1", id); {
		case err == nil:
			acked = append(acked, id)
		case errors.Is(err, store.ErrUnavailable):
			refused = append(refused, id)
		case errors.Is(err, store.ErrOutcomeUnknown):
			unknown = true
		default:
			t.Fatalf("%s: got %v", id, err)
		}
	}
	if len(refused) == 0 {
		t.Fatal("nothing was refused while a smaller write had room")
	}
	// Decisions go on, so the store is well; its condition shows it.
	if err := s.Check(t.Context()); err != nil || !s.Condition().ReadOnly || s.Condition().Lost != nil {
		t.Errorf("Check: %v, %+v", err, s.Condition())
	}
	verifyPresence(t, s, acked, refused)
	if f, err := s.Freshness(t.Context()); err != nil || f.Epoch != int64(len(acked)) {
		t.Errorf("epoch %d, %v; %d were answered", f.Epoch, err, len(acked))
	}
	child.LimitFiles(t, ^uint64(0))
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for end := time.Now().Add(5 * time.Second); s.Condition().ReadOnly; <-again.C {
		if time.Now().After(end) {
			t.Fatal("the store stays read-only though there is room")
		}
	}
	acked = append(acked, mustWrite(t, s, 2000))
	verifyPresence(t, s, acked, refused)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	verifyPairs(t, dir, acked)
	verifyPresence(t, openPairs(t, dir), acked, refused)
}

func mustWrite(t *testing.T, s *sqlite.Store, n int) string {
	t.Helper()
	id := fmt.Sprint("id-", n)
	if err := writePair(t.Context(), s, "account-0", id); err != nil {
		t.Fatalf("%s: %v", id, err)
	}
	return id
}

func verifyPresence(t *testing.T, s *sqlite.Store, present, absent []string) {
	t.Helper()
	entries, _ := pairCollections()
	err := s.View(t.Context(), func(tx store.Tx) error {
		for _, id := range present {
			if _, err := entries.Get(t.Context(), tx, id); err != nil {
				t.Errorf("%s was answered: %v", id, err)
			}
		}
		for _, id := range absent {
			if _, err := entries.Get(t.Context(), tx, id); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s was refused: %v", id, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Errorf("View: %v", err)
	}
}

// TestEveryConnectionHasThePragmas: a pragma binds one connection.
func TestEveryConnectionHasThePragmas(t *testing.T) {
	s := open(t, t.TempDir())
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "2", "busy_timeout": "5000", "fullfsync": "1", "query_only": "0 1",
	} {
		got, err := s.Pragma(t.Context(), pragma)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %q, %v; want %s", pragma, got, err, want)
		}
	}
}
