package binary

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// Build builds the program of the module in root and returns its path below the module's bin. All test packages share
// this file: it is linked anew only after a change of the source, in three seconds of a processor. With race it is
// built with the race detector.
func Build(root string, race bool) (path string, err error) {
	dir, err := filepath.Abs(filepath.Join(root, "bin", "test"))
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", err
	}
	release, err := lock(filepath.Join(dir, "lock"))
	if err != nil {
		return "", err
	}
	defer release()
	path = filepath.Join(dir, "portcullis")
	// As make has it: with other flags it would be linked anew.
	args := []string{"build", "-ldflags=-s", "-buildvcs=false"}
	if race {
		path += "-race"
		args = append(args, "-race")
	}
	build := exec.CommandContext(context.Background(), "go", append(args, "-o", path, "./cmd/portcullis")...) //nolint:gosec // the tests' own paths
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the program under test: %w\n%s", err, out)
	}
	return path, nil
}

// lock waits until no other test package builds.
func lock(path string) (release func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}
