package backup_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/portcullis-authz/portcullis/store/backup"
	"github.com/portcullis-authz/portcullis/test/must"
)

// disk takes so many bytes.
type disk struct{ room int }

func (d *disk) Write(b []byte) (int, error) {
	n := min(d.room, len(b))
	if d.room -= n; n < len(b) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

// TestAFailedWriteIsNamed: a full disk is one, and a database that was changed meanwhile is another.
func TestAFailedWriteIsNamed(t *testing.T) {
	const changed = "changed while it was read"
	database := filepath.Join(t.TempDir(), "database")
	must.Do(t, os.WriteFile(database, make([]byte, 1<<20), 0o600))
	m := func(size int64) backup.Manifest {
		return backup.Manifest{Format: 1, Database: backup.Database{Size: size, SHA256: "sum"}}
	}
	if err := backup.WriteTo(&disk{room: 1 << 19}, database, m(1<<20)); !errors.Is(err, syscall.ENOSPC) || strings.Contains(err.Error(), changed) {
		t.Errorf("a full disk: %v", err)
	}
	for _, size := range []int64{1<<20 - 1, 1<<20 + 1} {
		if err := backup.WriteTo(&disk{room: 1 << 22}, database, m(size)); err == nil || !strings.Contains(err.Error(), changed) {
			t.Errorf("a database of another size: %v", err)
		}
	}
}
