package api_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/contract"
	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/tier"
)

// shown is an operation on the page, as the viewer renders it.
var shown = regexp.MustCompile(`class="opblock-summary-path" data-path="([^"]*)"`)

// TestPageShowsEveryOperationInABrowser: the page's scripts run under its policy, and
// render what the document has.
func TestPageShowsEveryOperationInABrowser(t *testing.T) {
	tier.Check(t)
	t.Parallel()
	browser, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	url := harness.Shared(t).URL + "/docs"
	page, log, err := browse(t, browser, url)
	for range 2 { // a browser that breaks down says nothing of the page
		if err != nil {
			t.Logf("%v\n%s", err, log)
			page, log, err = browse(t, browser, url)
		}
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	rendered := map[string]int{}
	for _, m := range shown.FindAllStringSubmatch(strings.ReplaceAll(page, "\u200b", ""), -1) {
		rendered[m[1]]++
	}
	want := map[string]int{}
	for _, o := range contract.Read(t).Operations {
		want[o.Path]++
	}
	for path, count := range want {
		if rendered[path] != count {
			t.Errorf("%s: the page shows %d operations of %d", path, rendered[path], count)
		}
	}
	if len(rendered) != len(want) || !strings.Contains(page, "May this user do this action on this path?") {
		t.Errorf("the page shows %d paths of %d\n%s", len(rendered), len(want), log)
	}
	if strings.Contains(log, "CONSOLE") {
		t.Errorf("the page's console is not empty:\n%s", log)
	}
}

// browse gives the page as it is when its scripts have run, and what the browser logged.
func browse(t *testing.T, browser, url string) (page, log string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	dir := t.TempDir()
	cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
		"--user-data-dir="+dir, "--enable-logging=stderr", "--virtual-time-budget=20000", "--dump-dom", url)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR=.") // the path of its socket has 107 bytes at most
	var out, errors bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errors
	err = cmd.Run()
	return out.String(), errors.String(), err
}
