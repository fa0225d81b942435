// Package child runs a test in a process of its own. A limit of files or memory in the process of `go test` would also
// hold for the report and the profiles of the testing package. Only tests import it.
package child

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
)

// env has the name of the test, in its own process.
const env = "PORTCULLIS_TEST_CHILD"

// Runs reports whether this process is the test's own. Another process starts it here, waits for its end, and fails the
// test if it failed. In the test's own process a write beyond a limit is an error, not a signal. Subtests can't have one.
//
//	if !child.Runs(t) {
//		return
//	}
func Runs(t *testing.T) bool {
	t.Helper()
	if os.Getenv(env) == t.Name() {
		signal.Ignore(syscall.SIGXFSZ)
		return true
	}
	process := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1") //nolint:gosec // this binary
	process.Env = append(os.Environ(), env+"="+t.Name())
	if out, err := process.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// LimitFiles makes this process's writes fail beyond so many bytes of a file.
func LimitFiles(t *testing.T, bytes uint64) {
	t.Helper()
	limit(t, syscall.RLIMIT_FSIZE, bytes)
}

// LimitOpenFiles limits the number of this process's open files. Open files stay open.
func LimitOpenFiles(t *testing.T, files uint64) {
	t.Helper()
	limit(t, syscall.RLIMIT_NOFILE, files)
}

func limit(t *testing.T, resource int, value uint64) {
	t.Helper()
	var now syscall.Rlimit
	if err := syscall.Getrlimit(resource, &now); err != nil {
		t.Fatal(err)
	}
	now.Cur = min(value, now.Max)
	if err := syscall.Setrlimit(resource, &now); err != nil {
		t.Fatal(err)
	}
}
