package harness

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// Outcome is what a command said and how it ended.
type Outcome struct {
	Code           int
	Stdout, Stderr string
}

// Command is one command of the program under test; env are NAME=value. It has four minutes: on a busy machine a start that
// compares two policies has taken more than one.
func Command(t testing.TB, env []string, args ...string) Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, Binary, args...)
	cmd.Dir = t.TempDir() // a default ./data is made here
	cmd.Env = environment(env...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		t.Fatalf("portcullis %v: %v\n%s", args, err, &stderr)
	}
	return Outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// environment returns the variables of the program under test: env, NAME=value each, and those of the tests. A setting in a
// developer's shell is for another gateway.
func environment(env ...string) []string {
	return append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PORTCULLIS_") }), env...)
}

// WantOneLine holds an outcome to exit 2 with one line that says all of what.
func WantOneLine(t testing.TB, o Outcome, title ...string) {
	t.Helper()
	if o.Code != 2 || strings.Count(o.Stderr, "\n") != 1 || !strings.HasPrefix(o.Stderr, "portcullis: ") || o.Stdout != "" {
		t.Errorf("exit %d, stdout %q, stderr %q; want exit 2 and one line", o.Code, o.Stdout, o.Stderr)
	}
	for _, text := range title {
		if !strings.Contains(o.Stderr, text) {
			t.Errorf("%q does not say %q", o.Stderr, text)
		}
	}
}

// Ephemeral are serve's arguments for free ports and the data folder.
func Ephemeral(dir string, args ...string) []string {
	free := []string{"serve", "--data-dir", dir, "--listen", "127.0.0.1:0", "--users-listen", "127.0.0.1:0", "--health-listen", "127.0.0.1:0"}
	if slices.Contains(args, "--demo") {
		free = append(free, "--console-listen", "127.0.0.1:0")
	}
	return append(free, args...)
}
