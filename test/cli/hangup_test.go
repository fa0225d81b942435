package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// hangup sends SIGHUP, and waits until the gateway has said so once more.
func hangup(t *testing.T, g *harness.Gateway) {
	t.Helper()
	const says = "SIGHUP: files are read again"
	before := strings.Count(g.Stderr.String(), says)
	must.Do(t, g.Cmd.Process.Signal(syscall.SIGHUP))
	harness.Soon(t, says, func() bool { return strings.Count(g.Stderr.String(), says) > before })
}

// warnings are how often the log says this in a warning.
func warnings(g *harness.Gateway, says string) (n int) {
	for line := range strings.Lines(g.Stderr.String()) {
		if strings.Contains(line, `"level":"WARN"`) && strings.Contains(line, says) {
			n++
		}
	}
	return n
}

// TestHangupReadsThePolicyAgain: a good change is in force, a wrong one is one warning and changes nothing.
func TestHangupReadsThePolicyAgain(t *testing.T) {
	t.Parallel()
	policies := harness.CopyPolicies(t)
	g := harness.Start(t, "--policy-dir", policies).Each()[0]
	revision := func() string {
		return string(harness.Call(t, "GET", g.HealthURL+"/metrics", "", "").Raw)
	}
	before := metricLine(revision(), "portcullis_policy_info")
	harness.WriteFile(t, filepath.Join(policies, "authz", "broken.rego"), "package authz\n\nallow if {")
	hangup(t, g)
	harness.Soon(t, "the change is refused", func() bool { return warnings(g, "policy change refused") == 1 })
	if now := metricLine(revision(), "portcullis_policy_info"); now != before {
		t.Errorf("%s, then %s", before, now)
	}
	must.Do(t, os.Remove(filepath.Join(policies, "authz", "broken.rego")))
	harness.WriteFile(t, filepath.Join(policies, "authz", "volcano_test.rego"), harness.FreezeTest)
	harness.WriteFile(t, filepath.Join(policies, "authz", "volcano.rego"), harness.FreezeRule)
	hangup(t, g)
	harness.Soon(t, "the good change is in force", func() bool { return metricLine(revision(), "portcullis_policy_info") != before })
	if n := warnings(g, "policy change refused"); n != 1 {
		t.Errorf("%d warnings", n)
	}
	history := harness.Call(t, "GET", g.HealthURL+"/policy/history", "", "")
	if got := harness.Texts(history.Body["history"], "outcome"); history.Status != 200 || !slices.Equal(got, []string{"taken", "refused", "taken"}) {
		t.Errorf("the history: %s", history.Raw)
	}
	refused := harness.At(history.Body, "history", 1)
	if revisions := harness.Texts(history.Body["history"], "revision"); slices.Contains(revisions, "") || !strings.Contains(fmt.Sprint(harness.At(refused, "reasons", 0)), "broken.rego") {
		t.Errorf("what was refused: %s", history.Raw)
	}
}

func metricLine(text, name string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, name) {
			return line
		}
	}
	return ""
}

// TestHangupReadsKeyFilesAgain guarantees one warning for each signal while the file is not a key set; the last good
// keys stay.
func TestHangupReadsKeyFilesAgain(t *testing.T) {
	t.Parallel()
	idp := harness.NewIdentityProvider(t, "i", "k")
	file := harness.TempFile(t, "keys.json", idp.Jwks())
	g := harness.Start(t, "--jwks-file", file, "--jwt-issuer", idp.Issuer, "--jwt-audience", idp.Audience).Each()[0]
	harness.WriteFile(t, file, "{")
	for n := 1; n < 3; n++ {
		hangup(t, g)
		harness.Soon(t, "the file is refused", func() bool { return warnings(g, "the last good keys stay in use") == n })
	}
}

// TestReadyIsSaidAtEveryLevel, and how it ended.
func TestReadyIsSaidAtEveryLevel(t *testing.T) {
	t.Parallel()
	g := harness.Start(t, "--log-level", "error").Each()[0] // which waits for the line
	g.Terminate(t)
	if code := g.Ended(t); code != 0 || !strings.Contains(g.Stderr.String(), `"msg":"stopped","served":`) {
		t.Errorf("exit %d: %s", code, g.Stderr)
	}
}
