package console_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// upload sends a bundle as the page's form does.
func (b *browser) upload(name string, bundle []byte) answer {
	b.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	if name != "" {
		part, err := w.CreateFormFile("bundle", name)
		if err == nil {
			_, err = part.Write(bundle)
		}
		if err != nil {
			b.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.base+"/policy/compare", &body)
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Content-Type", w.FormDataContentType())
	req.Header.Set("Origin", b.base)
	return b.do(req)
}

// compared waits for the end of the comparison, and returns its page.
func (b *browser) compared() (page answer) {
	b.t.Helper()
	harness.SoonWithin(b.t, 2*time.Minute, "the comparison has ended", func() bool {
		page = b.get("/policy/compare")
		return page.Status == http.StatusOK && page.Header.Get("Refresh") == ""
	})
	return page
}

// widerBundle is the shipped policy, by which readers of a project also create instances.
func widerBundle(t *testing.T) []byte {
	t.Helper()
	dir := harness.CopyWholePolicies(t)
	grants := filepath.Join(dir, "grants", "data.json")
	raw, err := os.ReadFile(grants)
	if err != nil {
		t.Fatal(err)
	}
	before, reader, _ := strings.Cut(string(raw), `"project_reader"`)
	wider := before + `"project_reader"` + strings.Replace(reader, `"project:*:read": true`, `"project:*:read": true, "project:instance:create": true`, 1)
	if wider == string(raw) {
		t.Fatal("readers of a project have other permissions")
	}
	harness.WriteFile(t, grants, wider)
	return harness.Bundle(t, dir, "wider")
}

// TestAPolicyIsCompared guarantees an operator the proof and tests of an uploaded bundle, the people it lets in, the word of the
// guards and the recorded decisions that turn. Nothing of it comes into force.
func TestAPolicyIsCompared(t *testing.T) {
	t.Parallel()
	g := demo(t)
	for name, where := range map[string]*harness.Gateway{"gateway": g, "process of its own": g.StartConsole(t, "--console-operators", alice)} {
		b := newBrowser(t, where)
		if got := b.redeem(newCode(t, g, alice)); got.Status != http.StatusOK {
			t.Fatalf("%s: %d", name, got.Status)
		}
		if got := b.get("/policy/compare"); got.Status != http.StatusOK || !got.says("portcullis policy build") {
			t.Fatalf("%s: %d", name, got.Status)
		}
		if got := b.upload("wider.tar.gz", widerBundle(t)); got.Status != http.StatusSeeOther {
			t.Fatalf("%s: %d\n%s", name, got.Status, got.Body)
		}
		page := b.compared()
		for _, text := range []string{
			"wider.tar.gz", "test_decision_denies failed", "New access", "project:instance:create", "Real users who gain", bob, "Guards of the policy in force", "has no guards",
			"would be allowed", "Recorded decisions, judged again",
		} {
			if !page.says(text) {
				t.Errorf("%s: the page does not say %q", name, text)
			}
		}
		if t.Failed() {
			t.Fatal(page.Body)
		}
	}
	if got := signIn(t, g, alice).get("/policy"); got.says("wider") {
		t.Error("the bundle is in force")
	}
}

// TestTestsOfThePolicyInForce guarantees that they run on request, with their coverage.
func TestTestsOfThePolicyInForce(t *testing.T) {
	t.Parallel()
	b := signIn(t, demo(t), alice)
	if got := b.post("/policy/compare", "in_force", "1"); got.Status != http.StatusSeeOther {
		t.Fatalf("%d\n%s", got.Status, got.Body)
	}
	if page := b.compared(); !page.says("COVERAGE: 100.0 %") || !page.says("nothing against it") || page.says("New access") {
		t.Error(page.Body)
	}
}

// TestComparisonsAreRefused guarantees it for all but operators, for other files than bundles, and for a second one at a time.
func TestComparisonsAreRefused(t *testing.T) {
	t.Parallel()
	g := demo(t)
	other := signIn(t, g, bob)
	for _, got := range []answer{other.get("/policy/compare"), other.upload("a.tar.gz", []byte("x")), other.post("/policy/compare", "in_force", "1"), other.post("/policy/compare/stop")} {
		if got.Status != http.StatusForbidden || !got.says("operators") {
			t.Errorf("another user: %d", got.Status)
		}
	}
	b := signIn(t, g, alice)
	for name, c := range map[string]struct {
		file   string
		bundle []byte
		want   int
	}{
		"no file":       {"", nil, http.StatusBadRequest},
		"an empty file": {"a.tar.gz", nil, http.StatusBadRequest},
		"a large one":   {"a.tar.gz", make([]byte, 17<<20), http.StatusRequestEntityTooLarge},
	} {
		if got := b.upload(c.file, c.bundle); got.Status != c.want || !got.says(`role="alert"`) {
			t.Errorf("%s: %d", name, got.Status)
		}
	}
	if got := b.post("/policy/compare", "in_force", strings.Repeat("1", 70<<10)); got.Status != http.StatusBadRequest {
		t.Errorf("a large form: %d", got.Status)
	}
	if got := newBrowser(t, g).upload("a.tar.gz", make([]byte, 8<<20)); got.Status != http.StatusSeeOther || got.Header.Get("Location") != "/login" {
		t.Errorf("without a session: %d", got.Status)
	}
	if got := b.upload(`<script>alert(1)</script>.tgz`, []byte("no bundle")); got.Status != http.StatusSeeOther {
		t.Fatalf("%d\n%s", got.Status, got.Body)
	}
	if page := b.compared(); page.says("nothing against it") || !page.says("look at this") || page.says("<script>alert") {
		t.Error(page.Body)
	}
	if got := b.upload("wider.tar.gz", widerBundle(t)); got.Status != http.StatusSeeOther {
		t.Fatal(got.Status)
	}
	if got := b.upload("wider.tar.gz", widerBundle(t)); got.Status != http.StatusServiceUnavailable || !got.says("Another comparison is running") {
		t.Errorf("a second one: %d", got.Status)
	}
	if got := b.post("/policy/compare/stop"); got.Status != http.StatusSeeOther {
		t.Errorf("a stop: %d", got.Status)
	}
	if page := b.compared(); !page.says("It was stopped.") {
		t.Error(page.Body)
	}
	if got := b.post("/policy/compare", "in_force", "1"); got.Status != http.StatusSeeOther {
		t.Errorf("after a stop: %d", got.Status)
	}
}

// TestAHostilePolicyIsBounded guarantees that the tests of an uploaded policy run within the bounds of the proof. One with too
// large a value is refused.
func TestAHostilePolicyIsBounded(t *testing.T) {
	t.Parallel()
	g := demo(t)
	dir := harness.CopyWholePolicies(t)
	harness.WriteFile(t, filepath.Join(dir, "authz", "hostile_test.rego"), "package authz_test\n\n"+
		`test_large if count(replace(sprintf("%0900000d", [1]), "0", sprintf("%06000d", [1]))) > 0`+"\n")
	b := signIn(t, g, alice)
	if got := b.upload("hostile.tar.gz", harness.Bundle(t, dir, "hostile")); got.Status != http.StatusSeeOther {
		t.Fatalf("%d\n%s", got.Status, got.Body)
	}
	page := b.compared()
	if !page.says("too much memory") || page.says("COVERAGE") {
		t.Error(page.Body)
	}
}
