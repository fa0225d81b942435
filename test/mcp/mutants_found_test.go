//go:build nightly

package mcp_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/overlay"
)

// TestMutantsAreFoundOut guarantees that the tests of `make check` find each missing condition.
func TestMutantsAreFoundOut(t *testing.T) {
	whole := harness.Binary
	t.Cleanup(func() { harness.Binary = whole })
	builder := overlay.NewBuilder("../..", t.TempDir())
	for _, m := range mutants() {
		t.Run(m.name, func(t *testing.T) {
			program := builder.Program(t, m.name, m.edits...)
			if m.test != "" {
				wantFailure(t, program, m.test)
				return
			}
			harness.Binary = program
			problem, _ := exceeding(t, 11, 200)
			if problem == "" {
				t.Fatal("not found out")
			}
			t.Log(problem)
		})
	}
}

// wantFailure runs a test on a program, and fails unless that test fails by what the program answers.
func wantFailure(t *testing.T, program, test string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+test+"$", "-test.count=1")
	cmd.Env = append(os.Environ(), harness.EnvProgram+"="+program)
	out, err := cmd.CombinedOutput()
	text := string(out)
	if err == nil || !strings.Contains(text, "--- FAIL: "+test+" (") || strings.Contains(text, "panic: ") || strings.Contains(text, "before it was ready") {
		t.Fatalf("not found out by %s: %v\n%s", test, err, text)
	}
	for line := range strings.Lines(text) {
		if strings.Contains(line, "_test.go:") {
			t.Log(strings.TrimSpace(line))
			return
		}
	}
}
