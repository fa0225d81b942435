package console_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// axe returns the script of axe-core, which npm installs. Its licence is MPL-2.0, so no copy of it is here.
func axe(t *testing.T) string {
	t.Helper()
	need(t, "npm")
	dir := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json"} {
		raw, err := os.ReadFile(filepath.Join("testdata", "axe", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), raw, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--no-update-notifier")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("npm: %v\n%s", err, out)
		}
		t.Skipf("SKIPPED, since axe-core can't be installed: %v\n%s", err, out)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// auditAA runs axe-core on the rules of WCAG 2.2 AA, and gives each finding as a line.
const auditAA = `axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}).then((found) =>
	JSON.stringify(found.violations.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.target.join(" ") + ": " + n.failureSummary))))`

// TestPagesAreAccessible guarantees that axe-core finds nothing at level AA on any page, in light and in dark colours.
func TestPagesAreAccessible(t *testing.T) {
	t.Parallel()
	g := demo(t)
	b, script := openTab(t, g), axe(t)
	audit := func(path string) {
		t.Helper()
		b.open(path)
		b.wait(`document.readyState === "complete"`)
		await := func(p *runtime.EvaluateParams) { yes := true; p.AwaitPromise = &yes }
		if _, err := chromedp.Run(b.ctx, chromedp.Evaluate[chromedp.Void](script+"; undefined", chromedp.EvalIgnoreExceptions)); err != nil {
			t.Fatal(err)
		}
		text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](auditAA, await))
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		if err := json.Unmarshal([]byte(text), &all); err != nil {
			t.Fatal(err)
		}
		for _, one := range all {
			t.Errorf("%s: %s", path, one)
		}
	}
	for _, colours := range []string{"light", "dark"} {
		b.look(1280, colours)
		audit("/login")
		audit("/login/link?code=none")
	}
	b.signIn(g, alice)
	for _, colours := range []string{"light", "dark"} {
		b.look(1280, colours)
		for _, path := range append(menu(), "/no-such-page") {
			audit(path)
		}
	}
}
