package harness

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/portcullis-authz/portcullis/test/must"
)

// TempFile writes a file of the test, for the owner alone, and gives its path.
func TempFile(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// WriteFile writes a file that only its owner can read.
func WriteFile(t testing.TB, path, text string) {
	t.Helper()
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
}
