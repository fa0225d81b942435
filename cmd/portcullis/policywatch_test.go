package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
)

// TestPolicyTestWatches: each change has its own report, until the author interrupts.
func TestPolicyTestWatches(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tree")
	files, err := filesOf(policies.Tree())
	if err == nil {
		err = writeFiles(dir, files)
	}
	if err != nil {
		t.Fatal(err)
	}
	out, w := io.Pipe()
	cmd := newPolicyTest()
	cmd.SetArgs([]string{"--watch", "--run", "test_watched|test_account_action", dir})
	cmd.SetOut(w)
	cmd.SetErr(w)
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- cmd.ExecuteContext(ctx)
		_ = w.Close()
	}()
	lines := bufio.NewScanner(out)
	report := func() string {
		var output strings.Builder
		for lines.Scan() && !strings.HasPrefix(lines.Text(), "Watching for changes") {
			output.WriteString(lines.Text() + "\n")
		}
		return output.String()
	}
	put := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, "authz", "watched_test.rego"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := report(); !strings.Contains(got, "PASS: ") || strings.Contains(got, "FAIL") {
		t.Errorf("at first: %s", got)
	}
	put("package authz_test\n\ntest_watched if 1 == 2\n")
	if got := report(); !strings.Contains(got, "data.authz_test.test_watched: FAIL") {
		t.Errorf("of a failing test: %s", got)
	}
	put("package authz_test\n\ntest_watched if {")
	if got := report(); !strings.Contains(got, "rego_parse_error") {
		t.Errorf("of no Rego: %s", got)
	}
	put("package authz_test\n\ntest_watched if 1 == 1\n")
	if got := report(); strings.Contains(got, "FAIL") || !strings.Contains(got, "PASS: ") {
		t.Errorf("once it is mended: %s", got)
	}
	interrupt()
	if err := <-ended; err != nil {
		t.Errorf("interrupted: %v", err)
	}
}
