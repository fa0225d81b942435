package sqlite_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/sqlite"
	"github.com/portcullis-authz/portcullis/store/storetest"
)

// open opens a folder with the suite's collections and closes it when the test ends.
func open(t *testing.T, dir string, schemas ...*store.Schema) *sqlite.Store {
	t.Helper()
	if schemas == nil {
		schemas = storetest.Schemas()
	}
	s, err := sqlite.Open(t.Context(), sqlite.Options{Dir: dir, Schemas: schemas})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return open(t, t.TempDir()) })
}

func TestReopeningKeepsEverything(t *testing.T) {
	dir := t.TempDir()
	storetest.RunReopen(t, true,
		func(t *testing.T) store.Store { return open(t, dir) },
		func(t *testing.T, s store.Store) store.Store {
			if err := s.Close(); err != nil {
				t.Fatalf("Close: %v", err)
			}
			return open(t, dir)
		})
}
