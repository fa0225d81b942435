package child_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/portcullis-authz/portcullis/test/child"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestLimitsHoldInTheProcessAlone guarantees that a limit binds until it is lifted, and never binds the process of `go
// test`.
func TestLimitsHoldInTheProcessAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if !child.Runs(t) {
		must.Do(t, os.WriteFile(path, make([]byte, 100), 0o600))
		return
	}
	child.LimitFiles(t, 10)
	if err := os.WriteFile(path, make([]byte, 11), 0o600); !errors.Is(err, syscall.EFBIG) {
		t.Errorf("a large file: %v", err)
	}
	child.LimitFiles(t, 100)
	must.Do(t, os.WriteFile(path, make([]byte, 100), 0o600))
	child.LimitOpenFiles(t, 0)
	if _, err := os.ReadFile(path); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("one more file: %v", err)
	}
	child.LimitOpenFiles(t, 100)
	must.Get(os.ReadFile(path))(t)
}
